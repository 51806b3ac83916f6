package repair

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/hist-cli/hist/internal/disk"
	"github.com/hist-cli/hist/internal/publish"
	"github.com/hist-cli/hist/internal/testkit/testhome"
)

// While a database is brought back nobody can begin to use the home: who tries waits, and the undo ends.
func TestUndoHoldsTheDatabases(t *testing.T) {
	dir, session, _ := inHome(t)
	broken, other := filepath.Join(dir, "goals_1.sqlite"), filepath.Join(dir, "logs_2.sqlite")
	for _, path := range []string{broken, broken + "-wal", broken + "-shm"} {
		put(t, path, bytes.Repeat([]byte("this is no database. "), 40))
	}
	put(t, other, nil)
	rep, err := Do(t.Context(), Job{Path: session, Home: dir, Mode: InPlace, MoveDatabases: true})
	if err != nil {
		t.Fatal(err)
	}
	opened := false
	publish.ObserveSteps(func(step string) {
		if _, err := os.Lstat(broken + "-wal"); step == "published" && err == nil && !opened { // the log is back, the database is not
			opened = true
			fd, err := unix.Open(other, unix.O_RDWR|unix.O_NONBLOCK, 0)
			if !errors.Is(err, unix.EAGAIN) {
				t.Errorf("a client could open another database of the home (%v)", err)
				unix.Close(fd)
			}
		}
	})
	t.Cleanup(func() { publish.ObserveSteps(nil) })
	if err := undo(t, rep.Run); !errors.Is(err, disk.ErrBusy) || !opened {
		t.Errorf("opened: %v; undo: %v", opened, err)
	}
	if _, err := os.Lstat(broken); err == nil {
		t.Error("the database came back although a client begins to use the home")
	}
	if err := undo(t, rep.Run); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(broken); err != nil {
		t.Error(err)
	}
}

// A database that can't be read where it tells of the session is moved, too, and the report says where it is kept.
func TestMovedWhereItTellsOfTheSession(t *testing.T) {
	for name, table := range map[string]string{"state_5.sqlite": "threads", "thread_history_1.sqlite": "thread_turns"} {
		home, path, _ := inHome(t)
		database := filepath.Join(home, name)
		spoiled(t, database, table)
		before, err := os.ReadFile(database)
		if err != nil {
			t.Fatal(err)
		}
		is := func(e Entry) bool { return e.Rule == "damaged-database" && e.Fix == "set-aside" }
		tried, err := Do(t.Context(), Job{Path: path, Home: home, Mode: DryRun, Instead: InPlace, MoveDatabases: true})
		if err != nil || slices.IndexFunc(tried.Edits, is) < 0 || tried.History.Refused {
			t.Errorf("%s: a dry run does not tell of it: %+v (%v)", name, tried, err)
		}
		rep, err := Do(t.Context(), Job{Path: path, Home: home, Mode: InPlace, MoveDatabases: true})
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(rep.Edits, is)
		if at < 0 || rep.Unrepaired() || rep.Fix != "set-aside" || len(rep.Notes) > 0 {
			t.Fatalf("%s: %+v", name, rep)
		}
		if kept, err := os.ReadFile(rep.Edits[at].Kept); err != nil || !bytes.Equal(kept, before) {
			t.Errorf("%s: %d of %d bytes are kept (%v)", name, len(kept), len(before), err)
		}
		if _, err := os.Lstat(database); err == nil {
			t.Errorf("%s is still there", name)
		}
		var page bytes.Buffer
		if err := HTML(&page, []*Report{rep}, PageOptions{}); err != nil || !strings.Contains(page.String(), "moved to "+rep.Edits[at].Kept) {
			t.Errorf("%s: the page does not say where it is (%v)", name, err)
		}
		list, err := filepath.Glob(filepath.Join(filepath.Dir(rep.Edits[at].Kept), "*.report.json"))
		if err != nil || len(list) != 1 {
			t.Fatalf("reports in the record: %q (%v)", list, err)
		}
		if text, err := os.ReadFile(list[0]); err != nil || !bytes.Contains(text, []byte(`"kept"`)) {
			t.Errorf("%s: the report in the record does not tell of it (%v)", name, err)
		}
		if err := undo(t, rep.Run); err != nil {
			t.Error(err)
		}
		if back, err := os.ReadFile(database); err != nil || !bytes.Equal(back, before) {
			t.Errorf("%s: %d of %d bytes are back (%v)", name, len(back), len(before), err)
		}
	}
}

// A config that lacks what the session needs is not moved away with the databases.
func TestConfigStays(t *testing.T) {
	home := t.TempDir()
	if err := testhome.Unpack("../fixtures/codex/rules/provider-missing/bad.txtar", home); err != nil {
		t.Fatal(err)
	}
	list, err := filepath.Glob(filepath.Join(home, "sessions/*/*/*/*.jsonl"))
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	rep, err := Do(t.Context(), Job{Path: list[0], Home: home, Mode: InPlace, MoveDatabases: true})
	if err != nil || len(rep.Left) != 1 || rep.Left[0].Rule != "provider-missing" || len(rep.Edits) > 0 || !rep.History.Refused {
		t.Errorf("%+v (%v)", rep, err)
	}
	if _, err := os.Stat(filepath.Join(home, "config.toml")); err != nil {
		t.Error(err)
	}
}

// So is one whose rows of the session a repair can't keep, or can't clear: it was refused.
func TestMovedWhereRowsAreStuck(t *testing.T) {
	for _, table := range []string{"thread_items", "items_by_thread"} {
		home, path, _ := inHome(t)
		database := filepath.Join(home, "thread_history_1.sqlite")
		spoiledBehind(t, database, table, 1<<20)
		rep, err := Do(t.Context(), Job{Path: path, Home: home, Mode: InPlace, MoveDatabases: true})
		if err != nil || rep.Unrepaired() {
			t.Fatalf("%s: %+v (%v)", table, rep, err)
		}
		if _, err := os.Lstat(database); err == nil {
			t.Errorf("%s: the database is still there", table)
		}
		if err := undo(t, rep.Run); err != nil {
			t.Error(err)
		}
		if _, err := os.Lstat(database); err != nil {
			t.Errorf("%s: the database is not back (%v)", table, err)
		}
	}
}

// What keeps the client from a home is also moved where the session takes more than one pass, as forks do, and said to be left if it
// is not to be moved: the text that a pass leaves is not compared with its home.
func TestMovedAfterSeveralPasses(t *testing.T) {
	for _, move := range []bool{true, false} {
		t.Setenv("XDG_STATE_HOME", t.TempDir())
		home := t.TempDir()
		if err := testhome.Unpack("../fixtures/codex/rules/broken-lineage/bad-inherited.txtar", home); err != nil {
			t.Fatal(err)
		}
		broken := filepath.Join(home, "goals_1.sqlite")
		put(t, broken, bytes.Repeat([]byte("this is no database. "), 40))
		path := filepath.Join(home, "sessions/2026/11/18/rollout-2026-11-18T10-30-00-01a1edfd-e191-74b0-9003-79b97f4a7c16.jsonl")
		rep, err := Do(t.Context(), Job{Path: path, Home: home, Mode: InPlace, MoveDatabases: move})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Lstat(broken); move == (err == nil) {
			t.Errorf("move %v: the database is there: %v", move, err == nil)
		}
		if left := slices.ContainsFunc(rep.Left, func(l Left) bool { return l.Rule == "damaged-database" }); left == move {
			t.Errorf("move %v: told as left: %v", move, left)
		}
	}
}
