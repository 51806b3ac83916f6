//go:build unix

package beside

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	codexhome "github.com/hist-cli/hist/internal/agent/codex/home"
	"github.com/hist-cli/hist/internal/disk"
)

// TestPipe: a named pipe in the place of a database, or beside it, is an error: nobody waits for its writer.
func TestPipe(t *testing.T) {
	t.Setenv("CODEX_SQLITE_HOME", "")
	for _, suffix := range []string{"", "-wal"} {
		home := t.TempDir()
		path := filepath.Join(home, codexhome.StateFile)
		if suffix != "" {
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := syscall.Mkfifo(path+suffix, 0o600); err != nil {
			t.Skip(err)
		}
		if _, _, err := open(t.Context(), home, codexhome.StateFile, readOnly); !errors.Is(err, disk.ErrOther) {
			t.Errorf("%q: %v", suffix, err)
		}
	}
}
