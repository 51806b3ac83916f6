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

// TestHugeRecord: a file in the place of a record that is larger than any record is not read.
func TestHugeRecord(t *testing.T) {
	rec := recordRun(t)
	for name, text := range rec.files {
		if err := os.Truncate(filepath.Join(rec.dir, name), 20<<30); err != nil { // it takes no room on the disk
			t.Skip(err)
		}
		if _, err := List(); !errors.Is(err, disk.ErrLarge) {
			t.Errorf("%s: %v", name, err)
		}
		rec.write(t, name, text)
	}
}
