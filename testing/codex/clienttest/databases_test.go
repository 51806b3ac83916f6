package clienttest

import (
	"bytes"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/hist-cli/hist/internal/runs"
	"github.com/hist-cli/hist/repair"
)

// A client refuses every session of a home with a database that it can't read, and a session whose own rows it can't read. When
// that database is moved away, the client makes a new one and sends the whole history, and an undo leaves the new one alone.
func TestMovedDatabase(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	for _, c := range []struct{ name, file, table, until string }{
		{"no database", "thread_history_1.sqlite", "", ""},
		{"no row", "state_5.sqlite", "sqlite_autoindex_threads_1", "0.160.0"}, // from which on clients do without it
		{"no turns", "thread_history_1.sqlite", "thread_turns", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			clientsSince(t, "0.150.0", func(t *testing.T, bin Binary) {
				refuses := c.until == "" || versionLess(bin.Version, c.until)
				h := newHome(t, bin)
				rec, id, clean := recordClean(t, h)
				database := filepath.Join(h.Codex, c.file)
				spoil(t, database, c.table)
				if res := h.Resume(t.Context(), id, Prompt); (len(res.Requests) == 0) != refuses {
					t.Errorf("it is refused: %v; %+v", refuses, res)
				}
				if !refuses {
					return
				}
				rep, err := repair.Do(t.Context(), repair.Job{Path: rec.Rollout, Home: h.Codex, Mode: repair.InPlace, MoveDatabases: true})
				if err != nil || rep.Unrepaired() {
					t.Fatalf("%+v: %v", rep, err)
				}
				res := h.Resume(t.Context(), id, Prompt)
				if res.Err != nil || res.ExitCode != 0 || len(res.Requests) != 1 {
					t.Fatalf("%+v", res)
				}
				if c := Compare(clean, Input(res.Requests[0].Body)); !c.OrderKept || c.Sent+c.Changed != c.Clean {
					t.Errorf("%+v", c)
				}
				undoLeaves(t, rep.Run, database)
			})
		})
	}
}

// spoil writes over a database: over the page in which a table or an index begins, or over all of it if none is named.
func spoil(t *testing.T, database, table string) {
	t.Helper()
	if table == "" {
		for _, suffix := range []string{"-wal", "-shm"} {
			if err := os.Remove(database + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(database, bytes.Repeat([]byte("this is no database. "), 400), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	db, err := sql.Open("sqlite", database)
	if err != nil {
		t.Fatal(err)
	}
	var page, size int64
	if _, err = db.Exec("PRAGMA wal_checkpoint(TRUNCATE)"); err == nil {
		err = db.QueryRow("SELECT rootpage, (SELECT page_size FROM pragma_page_size) FROM sqlite_schema WHERE name = ?", table).Scan(&page, &size)
	}
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(database)
	if err != nil {
		t.Fatal(err)
	}
	clear(text[(page-1)*size : page*size])
	if err := os.WriteFile(database, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// undoLeaves checks that an undo leaves the database alone that the client has made since.
func undoLeaves(t *testing.T, run, database string) {
	t.Helper()
	made, err := os.ReadFile(database)
	if err != nil {
		t.Fatal(err)
	}
	r, err := runs.Load(run)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Undo(t.Context(), repair.Claims{}); !errors.Is(err, runs.ErrMovedOn) {
		t.Errorf("undo: %v", err)
	}
	if now, err := os.ReadFile(database); err != nil || !bytes.Equal(now, made) {
		t.Errorf("the undo has changed the client's new database (%v)", err)
	}
}
