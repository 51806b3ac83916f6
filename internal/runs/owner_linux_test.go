package runs

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestUndoMovedOwner: a database that root moved away and brings back is its user's again.
func TestUndoMovedOwner(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root to give files away")
	}
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	dir := t.TempDir()
	database := filepath.Join(dir, "goals_1.sqlite")
	files := []string{database, database + "-wal", database + "-shm"}
	for _, path := range files {
		if err := os.WriteFile(path, []byte("text"), 0o640); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(path, 65534, 65533); err != nil {
			t.Fatal(err)
		}
	}
	run, err := New("test")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run.MoveAway(t.Context(), database, dir, "", func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	if _, err := run.Undo(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if st := info.Sys().(*syscall.Stat_t); st.Uid != 65534 || st.Gid != 65533 || info.Mode() != 0o640 {
			t.Errorf("%s: %d %d %v", filepath.Base(path), st.Uid, st.Gid, info.Mode())
		}
	}
}
