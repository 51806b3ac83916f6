package docs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/hist-cli/hist/internal/publish"
)

// builtIn is where the tests of this package have hist built.
var builtIn string

func TestMain(m *testing.M) {
	publish.Sync = publish.NoSync // no power is lost here
	var err error
	if builtIn, err = os.MkdirTemp("", "hist-docs-"); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(builtIn)
	os.Exit(code)
}

// build builds hist, once for all tests, and returns where it lies, alone in its directory.
func build(t *testing.T) string {
	t.Helper()
	bin, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return bin
}

var built = sync.OnceValues(func() (string, error) {
	bin := filepath.Join(builtIn, "bin", "hist")
	out, err := exec.Command("go", "build", "-o", bin, "github.com/hist-cli/hist").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, out)
	}
	return bin, err
})
