//go:build unix

package runs

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/hist-cli/hist/internal/regular"
)

// TestPipe: a named pipe in the place of a record is an error: nobody waits for its writer.
func TestPipe(t *testing.T) {
	state(t)
	r := begin(t)
	for _, name := range []string{manifestName, journalName} {
		path := filepath.Join(r.Path(), name)
		kept, err := os.ReadFile(path)
		os.Remove(path)
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Skip(err)
		}
		if _, err := List(); !errors.Is(err, regular.ErrOther) {
			t.Errorf("%s: %v", name, err)
		}
		os.Remove(path)
		if err == nil {
			os.WriteFile(path, kept, 0o600)
		}
	}
}
