package clienttest

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	MCPMain()
	os.Exit(m.Run())
}
