package repair

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/hist-cli/hist/internal/agent/codex/home"
	"github.com/hist-cli/hist/internal/disk"
	"github.com/hist-cli/hist/internal/publish"
	"github.com/hist-cli/hist/internal/runs"
)

const killedThread = "01a1fa85-bfc3-74d1-9684-43a82083e7d1"

// undo takes the newest run back as the command does.
func undo(t *testing.T, run string) error {
	t.Helper()
	r, err := runs.Load(run)
	if err != nil {
		t.Fatal(err)
	}
	_, err = r.Undo(context.Background(), Claims{HomeOf: func(string) string { return "" }})
	return err
}

// TestUndoRefusesWhatIsInUse: neither a copy nor a session in place goes while a client has it open, or is its writer,
// even if it has written nothing yet.
func TestUndoRefusesWhatIsInUse(t *testing.T) {
	for _, mode := range []Mode{NewThread, InPlace} {
		for _, use := range []string{"open", "locked"} {
			t.Run(mode.String()+"/"+use, func(t *testing.T) {
				dir, path, _ := inHome(t)
				if err := os.MkdirAll(filepath.Join(dir, "thread-writer-locks"), 0o700); err != nil {
					t.Fatal(err)
				}
				rep, err := repairAt(t, dir, path, mode)
				if err != nil {
					t.Fatal(err)
				}
				before, err := os.ReadFile(rep.Target)
				if err != nil {
					t.Fatal(err)
				}
				var end func()
				if use == "open" {
					f, err := os.OpenFile(rep.Target, os.O_APPEND|os.O_WRONLY, 0)
					if err != nil {
						t.Fatal(err)
					}
					end = func() { f.Close() }
				} else {
					name, _ := home.ParseName(filepath.Base(rep.Target))
					if end, err = home.Lock(dir, name.ThreadID); err != nil {
						t.Fatal(err)
					}
				}
				if err := undo(t, rep.Run); !errors.Is(err, disk.ErrBusy) {
					t.Errorf("undone while it was in use: %v", err)
				}
				if after, err := os.ReadFile(rep.Target); err != nil || !bytes.Equal(before, after) {
					t.Errorf("it was changed (%v)", err)
				}
				end()
				if err := undo(t, rep.Run); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// TestUndoByID: a run is taken back by its whole id; no id is not the newest run, as it is for the command.
func TestUndoByID(t *testing.T) {
	dir, path, text := inHome(t)
	rep, err := repairAt(t, dir, path, InPlace)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"", rep.Run[:8], "20200101T000000Z-000000"} {
		if done, err := Undo(t.Context(), id); err == nil {
			t.Errorf("%q: %+v", id, done)
		}
	}
	done, err := Undo(t.Context(), rep.Run)
	if err != nil || len(done) != 1 || done[0].Path != path {
		t.Errorf("%+v, %v", done, err)
	}
	if back, err := os.ReadFile(path); err != nil || !bytes.Equal(back, text) {
		t.Errorf("%d of %d bytes are back (%v)", len(back), len(text), err)
	}
}

// TestUndoBesideForks: a fork that relies on nothing that the repair has moved does not keep it from being taken back.
func TestUndoBesideForks(t *testing.T) {
	for _, c := range []struct {
		offset  int
		refused bool
	}{{3812, false}, {9825, true}} {
		dir, path, text := inHome(t)
		rep, err := repairInPlace(t, dir, path)
		if err != nil {
			t.Fatal(err)
		}
		fork := fmt.Appendf(nil, `{"timestamp":"2026-11-20T20:00:00.000Z","ordinal":9,"type":"session_meta","payload":{"id":"019a0000-0000-7000-8000-000000000009","timestamp":"2026-11-20T20:00:00.000Z","cwd":"/","originator":"codex_exec","cli_version":"0.169.0","history_mode":"paginated","history_base":{"thread_id":%q,"end_ordinal_exclusive":9,"end_byte_offset":%d}}}`+"\n", killedThread, c.offset)
		put(t, filepath.Join(dir, "sessions/2026/11/20/rollout-2026-11-20T20-00-00-019a0000-0000-7000-8000-000000000009.jsonl"), fork)
		if err := undo(t, rep.Run); errors.Is(err, ErrDependants) != c.refused || (err != nil) != c.refused {
			t.Errorf("a fork from byte %d: %v", c.offset, err)
		}
		if now, err := os.ReadFile(path); err != nil || bytes.Equal(now, text) == c.refused {
			t.Errorf("a fork from byte %d: put back: %v (%v)", c.offset, bytes.Equal(now, text), err)
		}
	}
}

// TestOpenedMeanwhile: a client that opens the session when its copy lies on the disk already, and only the rename is to
// come, keeps it: a repair, and an undo, stop there.
func TestOpenedMeanwhile(t *testing.T) {
	dir, path, _ := inHome(t)
	meet := func() (opened func()) {
		var f *os.File
		publish.ObserveSteps(func(step string) {
			beside, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".hist-*"))
			if step == "closed" && f == nil && len(beside) > 0 {
				// Where the lease is held already, this only says that somebody waits for it.
				f, _ = os.OpenFile(path, os.O_APPEND|os.O_WRONLY|unix.O_NONBLOCK, 0)
				if f == nil {
					f = os.Stdin
				}
			}
		})
		return func() {
			publish.ObserveSteps(nil)
			if f == nil {
				t.Error("the step was never reached")
			} else if f != os.Stdin {
				f.Close()
			}
		}
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	closed := meet()
	if _, err := repairInPlace(t, dir, path); !errors.Is(err, disk.ErrBusy) {
		t.Errorf("repaired although it was opened: %v", err)
	}
	closed()
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(before, now) {
		t.Errorf("the session was replaced (%v)", err)
	}
	rep, err := repairInPlace(t, dir, path)
	if err != nil {
		t.Fatal(err)
	}
	if before, err = os.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	closed = meet()
	if err := undo(t, rep.Run); !errors.Is(err, disk.ErrBusy) {
		t.Errorf("undone although it was opened: %v", err)
	}
	closed()
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(before, now) {
		t.Errorf("the session was put back (%v)", err)
	}
	if err := undo(t, rep.Run); err != nil {
		t.Error(err)
	}
}

// TestRefusedUndo: a client that opens the session while the original is copied is not made to wait, and the undo stops
// there; so it does when a client opens the session after that. Either way the client's database is as it was.
func TestRefusedUndo(t *testing.T) {
	for _, c := range []struct {
		at   string
		read bool // the client has read the repaired session
	}{{"closed", false}, {"rows back", false}, {"rows back", true}} {
		t.Run(fmt.Sprint(c.at, c.read), func(t *testing.T) {
			dir, path, id, before := viewed(t, 0)
			rep, err := repairInPlace(t, dir, path)
			if err != nil {
				t.Fatal(err)
			}
			if c.read {
				inHistory(t, dir, "INSERT INTO thread_items VALUES ('"+id+"', 't', 'j', 'of the repaired session')")
			}
			repaired, rows := mustRead(t, path), rowsOf(t, dir, id)
			var f *os.File
			reached := false
			publish.ObserveSteps(func(step string) {
				beside, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".hist-*"))
				if step == c.at && !reached && len(beside) > 0 {
					reached = true
					f, err = os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0)
				}
			})
			uerr := undo(t, rep.Run)
			publish.ObserveSteps(nil)
			if !reached {
				t.Fatal("the step was never reached")
			}
			if held := errors.Is(err, unix.EWOULDBLOCK); held != (c.at == "rows back") {
				t.Errorf("opened: %v", err)
			}
			if f != nil {
				f.Close()
			}
			if !errors.Is(uerr, disk.ErrBusy) {
				t.Errorf("undone although it was opened: %v", uerr)
			}
			if !bytes.Equal(mustRead(t, path), repaired) {
				t.Error("the session was put back")
			}
			if now := rowsOf(t, dir, id); now != rows {
				t.Errorf("the client's rows:\n%s\nwant:\n%s", now, rows)
			}
			if err := undo(t, rep.Run); err != nil || rowsOf(t, dir, id) != before {
				t.Errorf("undone after that: %v", err)
			}
		})
	}
}

// TestUndoWithoutRows: the session comes back although the client's database does not take its rows any more; that is said.
func TestUndoWithoutRows(t *testing.T) {
	for name, hostile := range map[string]string{
		"a trigger": "CREATE TRIGGER t AFTER DELETE ON thread_items BEGIN DELETE FROM thread_turns; END",
		"a view":    "ALTER TABLE thread_turns RENAME TO q; CREATE VIEW thread_turns AS SELECT * FROM q",
		"a check":   "DROP TABLE thread_items; CREATE TABLE thread_items (thread_id TEXT, turn_id TEXT, item_id TEXT, item_json TEXT CHECK (item_json = 1))",
	} {
		t.Run(name, func(t *testing.T) {
			dir, path, _, _ := viewed(t, 0)
			before := mustRead(t, path)
			rep, err := repairInPlace(t, dir, path)
			if err != nil {
				t.Fatal(err)
			}
			inHistory(t, dir, hostile)
			done, err := Undo(t.Context(), rep.Run)
			if err != nil || !bytes.Equal(mustRead(t, path), before) {
				t.Fatalf("not undone: %v", err)
			}
			if len(done) != 1 || !strings.Contains(done[0].Note, "could not be brought back") || !strings.Contains(done[0].Note, "it is kept in") {
				t.Errorf("%+v", done)
			}
		})
	}
}

// TestHostileTrigger: a repair that would have to clear rows changes nothing if that could change those of other threads.
func TestHostileTrigger(t *testing.T) {
	dir, path, id, rows := viewed(t, 0)
	inHistory(t, dir, "CREATE TRIGGER t AFTER DELETE ON thread_items BEGIN DELETE FROM thread_items; END")
	before := mustRead(t, path)
	if _, err := repairInPlace(t, dir, path); err == nil || !strings.Contains(err.Error(), `trigger that no known client makes ("t")`) {
		t.Errorf("%v", err)
	}
	if !bytes.Equal(mustRead(t, path), before) || rowsOf(t, dir, id) != rows {
		t.Error("something was changed")
	}
}
