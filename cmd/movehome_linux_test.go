package cmd

import (
	"bytes"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMoveHome: in a home that was copied, sessions are listed where they lie now, and only those whose old file is gone. An undo brings
// the list back byte for byte.
func TestMoveHome(t *testing.T) {
	h := newCrashHome(t)
	rel, err := filepath.Rel(h.dir, h.session)
	if err != nil {
		t.Fatal(err)
	}
	here := filepath.Join(t.TempDir(), "rollout.jsonl")
	if err := os.WriteFile(here, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	state := filepath.Join(h.dir, "state_5.sqlite")
	db, err := sql.Open("sqlite", state)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range []string{
		"DROP TABLE IF EXISTS threads", "CREATE TABLE threads (id TEXT PRIMARY KEY, rollout_path TEXT NOT NULL)",
		"CREATE TABLE IF NOT EXISTS backfill_state (status TEXT)",
		"INSERT INTO threads VALUES ('a', '/old/home/" + rel + "'), ('b', '/old/home/sessions/2020/01/01/gone.jsonl'), ('c', '" + here + "')",
	} {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
	if code, out, _ := h.hist(t, nil, "move", "--home", h.dir); code != ExitInUse {
		t.Errorf("in use: exit %d: %s", code, out)
	}
	paths := func() string {
		db, err := sql.Open("sqlite", state)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		var all string
		if err := db.QueryRow("SELECT group_concat(rollout_path, ' ') FROM threads ORDER BY id").Scan(&all); err != nil {
			t.Fatal(err)
		}
		return all
	}
	db.Close()
	was, err := os.ReadFile(state)
	if err != nil {
		t.Fatal(err)
	}
	if _, out, _ := h.hist(t, nil, "doctor"); !strings.Contains(out, "looks for 1 session where this home was before:\n    hist move --home "+h.dir+"\n") || !strings.Contains(out, "where there is no file (2 times, this is the first) (hist explain index-stale)") {
		t.Errorf("doctor does not say it: %s", out)
	}
	if code, out, _ := h.hist(t, nil, "move", "--home", h.dir, "--dry-run"); code != ExitOK || !strings.Contains(out, "nothing was written") || strings.Contains(paths(), h.session) {
		t.Errorf("dry run: exit %d: %s", code, out)
	}
	code, out, _ := h.hist(t, nil, "move", "--home", h.dir)
	if want := h.session + " /old/home/sessions/2020/01/01/gone.jsonl " + here; code != ExitOK || !strings.Contains(out, "1 session is listed") || paths() != want {
		t.Errorf("exit %d: %s: %s", code, out, paths())
	}
	if code, out, _ := h.hist(t, nil, "move", "--home", h.dir); code != ExitOK || !strings.Contains(out, "nothing to gain") {
		t.Errorf("a second time: exit %d: %s", code, out)
	}
	if code, out, _ := h.hist(t, nil, "undo"); code != ExitOK {
		t.Errorf("undo: exit %d: %s", code, out)
	}
	if is, err := os.ReadFile(state); err != nil || !bytes.Equal(is, was) {
		t.Errorf("undo left other bytes (%v)", err)
	}
	if code, out, _ := h.hist(t, nil, "move", "--home", t.TempDir()); code != ExitUsage {
		t.Errorf("no home: exit %d: %s", code, out)
	}
}
