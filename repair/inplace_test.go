package repair

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hist-cli/hist/internal/publish"
	"github.com/hist-cli/hist/internal/runs"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/lint"
)

const killed = "rollout-2026-11-20T19-53-51-01a1fa85-bfc3-74d1-9684-43a82083e7d1.jsonl"

// inHome puts a damaged session into a home and returns both.
func inHome(t *testing.T) (home, path string, text []byte) {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	text, err := os.ReadFile(filepath.Join("../fixtures/codex/0.169.0/kill_in_tool", killed))
	if err != nil {
		t.Fatal(err)
	}
	home = t.TempDir()
	path = filepath.Join(home, "sessions/2026/11/20", killed)
	put(t, path, text)
	return home, path, text
}

func put(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o640); err != nil {
		t.Fatal(err)
	}
}

func repairInPlace(t *testing.T, home, path string) (*Report, error) {
	t.Helper()
	return repairAt(t, home, path, InPlace)
}

// repairAt repairs a session of a home, as the command does.
func repairAt(t *testing.T, home, path string, mode Mode) (*Report, error) {
	t.Helper()
	src, err := source.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	return Do(context.Background(), Job{
		Source: src, Lint: lint.Options{Name: lint.NameOf(path, true)}, Mode: mode, Home: home,
		Begin: func() (*runs.Run, error) { return runs.New("test") },
	})
}

// A fork points into the bytes of its parent: an edit in front of that place is refused, one behind it is not.
func TestForksKeepTheirGround(t *testing.T) {
	for _, c := range []struct {
		name    string
		offset  int // that the fork relies on
		refused bool
	}{
		{"behind the edit", 9825, true},
		{"before the edit", 3812, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			home, path, text := inHome(t)
			fork := fmt.Appendf(nil, `{"timestamp":"2026-11-20T20:00:00.000Z","ordinal":9,"type":"session_meta","payload":{"id":"019a0000-0000-7000-8000-000000000009","timestamp":"2026-11-20T20:00:00.000Z","cwd":"/","originator":"codex_exec","cli_version":"0.169.0","history_mode":"paginated","history_base":{"thread_id":"01a1fa85-bfc3-74d1-9684-43a82083e7d1","end_ordinal_exclusive":9,"end_byte_offset":%d}}}`+"\n", c.offset)
			put(t, filepath.Join(home, "archived_sessions/rollout-2026-11-20T20-00-00-019a0000-0000-7000-8000-000000000009.jsonl"), fork)
			_, err := repairInPlace(t, home, path)
			now, rerr := os.ReadFile(path)
			if rerr != nil {
				t.Fatal(rerr)
			}
			if errors.Is(err, ErrDependants) != c.refused || bytes.Equal(now, text) != c.refused {
				t.Errorf("refused: %v, changed: %v", err, !bytes.Equal(now, text))
			}
		})
	}
}

// What a file is stays: its mode and its time, by which clients sort; and nothing else appears beside it.
func TestInPlaceKeepsModeAndTime(t *testing.T) {
	home, path, text := inHome(t)
	then := time.Date(2026, 11, 20, 20, 0, 0, 0, time.UTC)
	if err := os.Chtimes(path, then, then); err != nil {
		t.Fatal(err)
	}
	rep, err := repairInPlace(t, home, path)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o640 || !info.ModTime().Equal(then) || info.Size() == int64(len(text)) {
		t.Errorf("%v %v %d bytes", info.Mode(), info.ModTime(), info.Size())
	}
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
		t.Errorf("beside it: %v", entries)
	}
	run, err := runs.Load(rep.Run)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run.Undo(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	back, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(back, text) {
		t.Errorf("undo does not bring the session back (%v)", err)
	}
}

// TestInPlaceOddHeaders: a header whose id is none keeps nobody from repairing the file, and its name tells the lock.
func TestInPlaceOddHeaders(t *testing.T) {
	home, path, text := inHome(t)
	put(t, path, bytes.Replace(text, []byte(`"id":"01a1fa85-bfc3-74d1-9684-43a82083e7d1"`), []byte(`"id":"7"`), 1))
	if err := os.MkdirAll(filepath.Join(home, "thread-writer-locks"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := repairInPlace(t, home, path); err != nil {
		t.Fatal(err)
	}
}

// TestInPlaceHardLinks: that another name keeps the damaged session is said.
func TestInPlaceHardLinks(t *testing.T) {
	home, path, text := inHome(t)
	other := filepath.Join(t.TempDir(), "other.jsonl")
	if err := os.Link(path, other); err != nil {
		t.Skip(err)
	}
	rep, err := repairInPlace(t, home, path)
	if err != nil || !slices.ContainsFunc(rep.Notes, func(n string) bool { return strings.Contains(n, "hard links") }) {
		t.Errorf("%v, notes %q", err, rep.Notes)
	}
	if kept, err := os.ReadFile(other); err != nil || !bytes.Equal(kept, text) {
		t.Errorf("the other name has changed (%v)", err)
	}
}

// TestChangedMeanwhile: a session that is written while it is repaired stays as it is, whenever that is seen, and the error names
// its file once.
func TestChangedMeanwhile(t *testing.T) {
	for _, step := range []string{"created", "filled", "synced", "closed"} {
		t.Run(step, func(t *testing.T) {
			home, path, text := inHome(t)
			more := slices.Concat(text, []byte("{}\n"))
			publish.ObserveSteps(func(name string) {
				if name == step {
					put(t, path, more)
				}
			})
			t.Cleanup(func() { publish.ObserveSteps(nil) })
			_, err := repairInPlace(t, home, path)
			if !errors.Is(err, source.ErrChanged) || strings.Count(err.Error(), path) != 1 {
				t.Errorf("got %v", err)
			}
			if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, more) {
				t.Errorf("the session has changed (%v)", err)
			}
		})
	}
}

// TestInPlaceBesideDamage: a database that can't be read keeps no session from its repair; that it is damaged is told.
func TestInPlaceBesideDamage(t *testing.T) {
	for _, name := range []string{"state_5.sqlite", "thread_history_1.sqlite", "logs_2.sqlite"} {
		home, path, text := inHome(t)
		put(t, filepath.Join(home, name), bytes.Repeat([]byte("no database "), 100))
		rep, err := repairInPlace(t, home, path)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if now, err := os.ReadFile(path); err != nil || bytes.Equal(now, text) {
			t.Errorf("%s: the session is as it was, %v", name, err)
		}
		told := func(l Left) bool { return l.Rule == "damaged-database" }
		if !slices.ContainsFunc(rep.Left, told) {
			t.Errorf("%s: nothing says that it is damaged: %+v", name, rep.Left)
		}
	}
}

// TestInPlaceBesideDamagedPart: nor does one that can be read, but not where it tells of the session.
func TestInPlaceBesideDamagedPart(t *testing.T) {
	for name, table := range map[string]string{"state_5.sqlite": "threads", "thread_history_1.sqlite": "thread_turns"} {
		home, path, text := inHome(t)
		spoiled(t, filepath.Join(home, name), table)
		rep, err := repairInPlace(t, home, path)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if now, err := os.ReadFile(path); err != nil || bytes.Equal(now, text) {
			t.Errorf("%s: the session is as it was, %v", name, err)
		}
		told := func(l Left) bool { return l.Rule == "damaged-database" && strings.Contains(l.Reason, name) }
		if !slices.ContainsFunc(rep.Left, told) {
			t.Errorf("%s: nothing says that it is damaged: %+v", name, rep.Left)
		}
	}
}

// spoiled makes a database as a client keeps it, and overwrites with zeros the page in which a table begins.
func spoiled(t *testing.T, path, table string) {
	t.Helper()
	spoiledBehind(t, path, table, 0)
}

// spoiledBehind does so with a view that has read so many bytes of the session.
func spoiledBehind(t *testing.T, path, table string, read int) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var page, size int64
	_, err = db.Exec(`CREATE TABLE threads (id TEXT PRIMARY KEY, rollout_path TEXT NOT NULL, archived INTEGER NOT NULL DEFAULT 0);
		CREATE TABLE backfill_state (id INTEGER PRIMARY KEY, status TEXT NOT NULL);
		CREATE TABLE thread_turns (thread_id TEXT, turn_id TEXT, rollout_byte_offset INTEGER, rollout_ordinal INTEGER);
		CREATE TABLE thread_items (thread_id TEXT, turn_id TEXT, item_id TEXT);
		CREATE INDEX items_by_thread ON thread_items (thread_id);
		INSERT INTO thread_items VALUES ('` + killedID + `', 'turn', 'item');
		CREATE TABLE thread_history_projection_state (thread_id TEXT, next_rollout_byte_offset INTEGER, next_rollout_ordinal INTEGER);
		INSERT INTO threads VALUES ('` + killedID + `', '', 0);
		INSERT INTO thread_history_projection_state VALUES ('` + killedID + `', ` + strconv.Itoa(read) + `, 0)`)
	if err == nil {
		err = db.QueryRow("SELECT rootpage, (SELECT page_size FROM pragma_page_size) FROM sqlite_schema WHERE name = ?", table).Scan(&page, &size)
	}
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	clear(text[(page-1)*size : page*size])
	put(t, path, text)
}

// killedID is the thread of the session that inHome makes.
const killedID = "01a1fa85-bfc3-74d1-9684-43a82083e7d1"

// TestReplacedMeanwhile: where another file of the very size that the repaired one has comes in its way at the last moment, what
// is told is that, and nothing is left of the run: its record is settled by the file, which must not be held any more then.
func TestReplacedMeanwhile(t *testing.T) {
	home, path, _ := inHome(t)
	var theirs []byte
	publish.ObserveSteps(func(name string) {
		made, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".hist-*.tmp"))
		if name != "closed" || err != nil || len(made) != 1 {
			return
		}
		theirs, err = os.ReadFile(made[0])
		if err != nil {
			t.Error(err)
		}
		theirs = bytes.Replace(theirs, []byte("list the files"), []byte("list the FILES"), 1)
		put(t, path, theirs)
	})
	t.Cleanup(func() { publish.ObserveSteps(nil) })
	_, err := repairInPlace(t, home, path)
	if !errors.Is(err, source.ErrChanged) || strings.Count(err.Error(), path) != 1 {
		t.Errorf("got %v", err)
	}
	if now, err := os.ReadFile(path); err != nil || theirs == nil || !bytes.Equal(now, theirs) {
		t.Errorf("the session has changed (%v)", err)
	}
	if list, err := runs.List(); err != nil || len(list) > 1 || len(list) == 1 && len(list[0].Files) > 0 {
		t.Errorf("there is a record: %+v, %v", list, err)
	}
}
