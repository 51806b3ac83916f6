package repair

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/hist-cli/hist/internal/agent/codex/beside"
	"github.com/hist-cli/hist/internal/publish"
	"github.com/hist-cli/hist/internal/runs"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/lint"
)

// viewed puts a damaged session into a home whose client has read all of it, and returns its rollout id and its rows.
func viewed(t *testing.T, offset int64) (home, path, id, rows string) {
	t.Helper()
	t.Setenv("CODEX_SQLITE_HOME", "")
	home, path, text := inHome(t)
	id, err := beside.RolloutID(path)
	if err != nil {
		t.Fatal(err)
	}
	if offset == 0 {
		offset = int64(len(text))
	}
	inHistory(t, home,
		"CREATE TABLE thread_turns (thread_id TEXT, turn_id TEXT)",
		"CREATE TABLE thread_items (thread_id TEXT, turn_id TEXT, item_id TEXT, item_json TEXT)",
		"CREATE TABLE thread_history_projection_state (thread_id TEXT PRIMARY KEY, next_rollout_byte_offset INTEGER, next_rollout_ordinal INTEGER)",
		"INSERT INTO thread_items VALUES ('"+id+"', 't', 'i', 'an answer that only this database holds')",
		fmt.Sprintf("INSERT INTO thread_history_projection_state VALUES ('%s', %d, 9)", id, offset))
	return home, path, id, rowsOf(t, home, id)
}

// inHistory executes statements on the client's database.
func inHistory(t *testing.T, home string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(home, "thread_history_1.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
}

func rowsOf(t *testing.T, home, id string) string {
	t.Helper()
	var b bytes.Buffer
	if err := beside.SaveRows(t.Context(), home, id, &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// What the client's database alone holds is kept before it is cleared, and an undo brings it back.
func TestRowsAreKept(t *testing.T) {
	for name, offset := range map[string]int64{"a repair": 0, "of the view alone": 1 << 40} {
		t.Run(name, func(t *testing.T) {
			home, path, id, before := viewed(t, offset)
			text := mustRead(t, path)
			if offset > 0 { // nothing else is to be mended
				text = text[:bytes.IndexByte(text, '\n')+1]
				put(t, path, text)
			}
			rep, err := repairInPlace(t, home, path)
			if err != nil || rep.Run == "" || len(rep.Edits) == 0 {
				t.Fatalf("%+v, %v", rep, err)
			}
			if rows := rowsOf(t, home, id); rows != "" {
				t.Errorf("left:\n%s", rows)
			}
			if err := undo(t, rep.Run); err != nil {
				t.Fatal(err)
			}
			if rows := rowsOf(t, home, id); rows != before {
				t.Errorf("after the undo:\n%s\nwant:\n%s", rows, before)
			}
			if now := mustRead(t, path); !bytes.Equal(now, text) {
				t.Error("the session is not what it was")
			}
		})
	}
}

func opened(t *testing.T, path string) *source.Source {
	t.Helper()
	src, err := source.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { src.Close() })
	return src
}

func mustRead(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Rows that were cleared for a repair which then fails come back at once, and its run is thrown away.
func TestRowsComeBackAfterAFailure(t *testing.T) {
	home, path, id, before := viewed(t, 0)
	run, err := runs.New("test")
	if err != nil {
		t.Fatal(err)
	}
	w := &job{Job: Job{Home: home, Source: opened(t, path)}, plan: &plan{Reproject: true}}
	f := &runs.File{}
	if err := w.keepRows(t.Context(), run, f); err != nil {
		t.Fatal(err)
	}
	guard, err := w.settleView(t.Context(), f)
	guard.Release()
	if err != nil || rowsOf(t, home, id) != "" {
		t.Fatalf("not cleared: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.giveBack(ended, run, f); err != nil {
		t.Error(err)
	}
	if rows := rowsOf(t, home, id); rows != before {
		t.Errorf("given back:\n%s\nwant:\n%s", rows, before)
	}
	if _, err := os.Stat(run.Path()); !errors.Is(err, os.ErrNotExist) {
		t.Error("the run is still there")
	}
}

// TestRowsAfterRivals: of several repairs of one session at once, in a home whose clients have no locks, none takes what the
// client's database alone holds: the rows are there while the session is as it was, and after the undo of what mended it.
func TestRowsAfterRivals(t *testing.T) {
	for range 12 {
		home, path, id, before := viewed(t, 0)
		text := mustRead(t, path)
		var wg sync.WaitGroup
		runs := make([]string, 8)
		for i := range runs {
			wg.Go(func() {
				src, err := source.Open(path)
				if err != nil {
					return
				}
				defer src.Close()
				rep, err := Do(t.Context(), Job{Source: src, Lint: lint.Options{Name: lint.NameOf(path, true)}, Mode: InPlace, Home: home})
				if err == nil {
					runs[i] = rep.Run
				}
			})
		}
		wg.Wait()
		for _, run := range runs {
			if run == "" {
				continue
			}
			if rows := rowsOf(t, home, id); rows != "" {
				t.Fatalf("rows of the old session stand beside the mended one:\n%s", rows)
			}
			if err := undo(t, run); err != nil {
				t.Fatal(err)
			}
		}
		if now := mustRead(t, path); !bytes.Equal(now, text) {
			t.Fatal("the session is not what it was")
		}
		if rows := rowsOf(t, home, id); rows != before {
			t.Fatalf("left:\n%s\nwant:\n%s", rows, before)
		}
	}
}

// A client that has read on since its rows were kept is not robbed of what it read.
func TestRowsThatChangedMeanwhile(t *testing.T) {
	home, path, id, _ := viewed(t, 0)
	run, err := runs.New("test")
	if err != nil {
		t.Fatal(err)
	}
	w := &job{Job: Job{Home: home, Source: opened(t, path), Lint: lint.Options{}}, plan: &plan{Reproject: true}}
	f := &runs.File{}
	if err := w.keepRows(t.Context(), run, f); err != nil {
		t.Fatal(err)
	}
	inHistory(t, home, "INSERT INTO thread_items VALUES ('"+id+"', 't', 'j', 'a new one')")
	now := rowsOf(t, home, id)
	guard, err := w.settleView(t.Context(), f)
	guard.Release()
	if !errors.Is(err, beside.ErrRows) || rowsOf(t, home, id) != now {
		t.Errorf("%v:\n%s", err, rowsOf(t, home, id))
	}
}

// TestReplacedWhileTheViewIsChanged: another program gives the session's name to another file while the client's rows are cleared, or
// brought back by an undo. That file stays, and so do the rows.
func TestReplacedWhileTheViewIsChanged(t *testing.T) {
	home, path, id, rows := viewed(t, 0)
	replaced := func(at string, do func() error) error {
		t.Helper()
		text, reached := []byte("another program's\n"), false
		publish.ObserveSteps(func(step string) {
			if step == at && !reached {
				reached = true
				put(t, path+".new", text)
				if err := os.Rename(path+".new", path); err != nil {
					t.Error(err)
				}
			}
		})
		err := do()
		publish.ObserveSteps(nil)
		if now := mustRead(t, path); !reached || !bytes.Equal(now, text) {
			t.Errorf("%s: reached: %v; the file that took the name is gone", at, reached)
		}
		return err
	}
	text := mustRead(t, path)
	err := replaced("cleared", func() error { _, err := repairInPlace(t, home, path); return err })
	if !errors.Is(err, source.ErrChanged) || rowsOf(t, home, id) != rows {
		t.Errorf("repaired: %v; rows:\n%s", err, rowsOf(t, home, id))
	}
	put(t, path, text)
	rep, err := repairInPlace(t, home, path)
	if err != nil {
		t.Fatal(err)
	}
	if err := replaced("rows back", func() error { return undo(t, rep.Run) }); !errors.Is(err, runs.ErrMovedOn) || rowsOf(t, home, id) != "" {
		t.Errorf("undone: %v; rows:\n%s", err, rowsOf(t, home, id))
	}
}
