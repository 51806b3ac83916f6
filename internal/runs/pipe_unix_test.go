//go:build unix

package runs

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/hist-cli/hist/internal/disk"
)

// TestPipe: a named pipe in the place of a record is an error: nobody waits for its writer.
func TestPipe(t *testing.T) {
	rec := recordRun(t)
	for name, text := range rec.files {
		path := filepath.Join(rec.dir, name)
		os.Remove(path)
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Skip(err)
		}
		if _, err := List(); !errors.Is(err, disk.ErrOther) {
			t.Errorf("%s: %v", name, err)
		}
		os.Remove(path)
		rec.write(t, name, text)
	}
}
