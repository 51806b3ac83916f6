package clienttest

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/hist-cli/hist/internal/runs"
	"github.com/hist-cli/hist/repair"
)

// A client refuses every session of a home with a database that it can't read. When that is moved away, the client makes a new
// one and sends the whole history, and an undo leaves the new one alone.
func TestMovedDatabase(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	clientsSince(t, "0.150.0", func(t *testing.T, bin Binary) {
		h := newHome(t, bin)
		_, id, clean := recordClean(t, h)
		database := filepath.Join(h.Codex, "thread_history_1.sqlite")
		for _, suffix := range []string{"-wal", "-shm"} {
			if err := os.Remove(database + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
		}
		broken := bytes.Repeat([]byte("this is no database. "), 400)
		if err := os.WriteFile(database, broken, 0o600); err != nil {
			t.Fatal(err)
		}
		if res := h.Resume(t.Context(), id, Prompt); len(res.Requests) != 0 {
			t.Errorf("the client resumes all the same: %+v", res)
		}

		if found := repair.BrokenDatabases(t.Context(), h.Codex); len(found) != 1 || found[0] != database {
			t.Fatalf("broken are %q", found)
		}
		run, err := runs.New("test")
		if err != nil {
			t.Fatal(err)
		}
		if err := repair.MoveDatabase(t.Context(), run, h.Codex, database); err != nil {
			t.Fatal(err)
		}
		res := h.Resume(t.Context(), id, Prompt)
		if res.Err != nil || res.ExitCode != 0 || len(res.Requests) != 1 {
			t.Fatalf("%+v", res)
		}
		if c := Compare(clean, Input(res.Requests[0].Body)); !c.OrderKept || c.Sent+c.Changed != c.Clean {
			t.Errorf("%+v", c)
		}

		made, err := os.ReadFile(database)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := run.Undo(t.Context(), repair.Claims{}); !errors.Is(err, runs.ErrMovedOn) {
			t.Errorf("undo: %v", err)
		}
		if now, err := os.ReadFile(database); err != nil || !bytes.Equal(now, made) {
			t.Errorf("the undo has changed the client's new database (%v)", err)
		}
	})
}
