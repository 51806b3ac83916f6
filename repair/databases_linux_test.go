package repair

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/hist-cli/hist/internal/failpoint"
	"github.com/hist-cli/hist/internal/inuse"
	"github.com/hist-cli/hist/internal/runs"
)

// While a database is brought back nobody can begin to use the home: who tries waits, and the undo ends.
func TestUndoHoldsTheDatabases(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	dir := t.TempDir()
	broken, other := filepath.Join(dir, "goals_1.sqlite"), filepath.Join(dir, "logs_2.sqlite")
	for _, path := range []string{broken, broken + "-wal", other} {
		if err := os.WriteFile(path, []byte(strings.Repeat("this is no database. ", 40)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run, err := runs.New("test")
	if err == nil {
		err = MoveDatabase(t.Context(), run, dir, broken)
	}
	if err != nil {
		t.Fatal(err)
	}
	opened := false
	failpoint.Observe(func(step string) {
		if step == "published" && !opened { // the log is back, the database is not
			opened = true
			fd, err := unix.Open(other, unix.O_RDWR|unix.O_NONBLOCK, 0)
			if !errors.Is(err, unix.EAGAIN) {
				t.Errorf("a client could open another database of the home (%v)", err)
				unix.Close(fd)
			}
		}
	})
	t.Cleanup(func() { failpoint.Observe(nil) })
	if err := undo(t, run.Manifest.Run); !errors.Is(err, inuse.ErrBusy) || !opened {
		t.Errorf("opened: %v; undo: %v", opened, err)
	}
	if _, err := os.Lstat(broken); err == nil {
		t.Error("the database came back although a client begins to use the home")
	}
	if err := undo(t, run.Manifest.Run); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(broken); err != nil {
		t.Error(err)
	}
}
