package runs

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/hist-cli/hist/internal/source"
)

// A database, or what was written to it newly, that changes until nobody may open it any more stays where it is, and so does one
// that somebody uses.
func TestMoveAwayChanged(t *testing.T) {
	inUse := errors.New("in use")
	for _, c := range []struct {
		name string
		free func(database string) error
		want error
	}{
		{"the database", func(database string) error { return os.WriteFile(database, []byte("other and longer"), 0o600) }, source.ErrChanged},
		{"its log", func(database string) error { return os.WriteFile(database+"-wal", []byte("longer"), 0o600) }, source.ErrChanged},
		{"a log comes", func(database string) error { return os.Rename(database+"-shm", database+"-wal") }, source.ErrChanged},
		{"in use", func(string) error { return inUse }, inUse},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("XDG_STATE_HOME", t.TempDir())
			dir := t.TempDir()
			database := filepath.Join(dir, "goals_1.sqlite")
			files := []string{database, database + "-shm"}
			if c.name != "a log comes" {
				files = append(files, database+"-wal")
			}
			for _, path := range files {
				if err := os.WriteFile(path, []byte("text"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			run, err := New("test")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := run.MoveAway(t.Context(), database, dir, "", func() error { return c.free(database) }); !errors.Is(err, c.want) {
				t.Errorf("MoveAway: %v", err)
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) != len(files) {
				t.Errorf("of %d files %d are left (%v)", len(files), len(left), err)
			}
			if len(run.Manifest.Files) != 0 {
				t.Errorf("the record still has it: %+v", run.Manifest.Files)
			}
		})
	}
}

// A link is not moved: it may lead to a database of another home.
func TestMoveAwayLink(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real"), filepath.Join(dir, "goals_1.sqlite")
	if err := errors.Join(os.WriteFile(real, []byte("text"), 0o600), os.Symlink(real, link)); err != nil {
		t.Skip(err)
	}
	run, err := New("test")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run.MoveAway(t.Context(), link, dir, "", func() error { return nil }); err == nil {
		t.Error("the link was moved")
	}
	if _, err := os.Lstat(link); err != nil {
		t.Error(err)
	}
}

// movedDatabase is a run that has moved a database and its log away.
func movedDatabase(t *testing.T) (run *Run, database string) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	dir := t.TempDir()
	database = filepath.Join(dir, "goals_1.sqlite")
	for _, path := range []string{database, database + "-wal"} {
		if err := os.WriteFile(path, []byte("the old one"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run, err := New("test")
	if err == nil {
		_, err = run.MoveAway(t.Context(), database, dir, "", func() error { return nil })
	}
	if err != nil {
		t.Fatal(err)
	}
	return run, database
}

// during is a claim under which something happens immediately before a file is written.
type during struct {
	unclaimed
	settle func()
}

func (d during) Check(context.Context, *File) error                { return nil }
func (d during) Claim(context.Context, *Run, *File) (Claim, error) { return d, nil }
func (d during) Settle(context.Context) error                      { d.settle(); return nil }

// A database that its client makes while the old one is brought back stays, and the undo says so.
func TestUndoMovedMadeMeanwhile(t *testing.T) {
	run, database := movedDatabase(t)
	_, err := run.Undo(t.Context(), during{settle: func() {
		if err := os.WriteFile(database, []byte("a new one"), 0o600); err != nil {
			t.Error(err)
		}
	}})
	if !errors.Is(err, ErrMovedOn) {
		t.Errorf("undo: %v", err)
	}
	if text, err := os.ReadFile(database); err != nil || string(text) != "a new one" {
		t.Errorf("%q (%v)", text, err)
	}
}

// What an undo that was cut off has already written must still be the old database when the rest comes.
func TestUndoMovedChangedMeanwhile(t *testing.T) {
	run, database := movedDatabase(t)
	if err := os.WriteFile(database, []byte("the old one"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := run.Undo(t.Context(), during{settle: func() {
		if err := os.WriteFile(database, []byte("written since"), 0o600); err != nil {
			t.Error(err)
		}
	}})
	if !errors.Is(err, ErrMovedOn) {
		t.Errorf("undo: %v", err)
	}
	if _, err := os.Lstat(database + "-wal"); err == nil {
		t.Error("its log was written beside another database")
	}
}
