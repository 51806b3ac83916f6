package cmd

import (
	"bytes"
	"database/sql"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/hist-cli/hist/internal/testkit"
)

// TestRedactStoresKilled kills a redaction of a session and of all that its client keeps beside it after each of its steps. The same
// command then finishes it: no file of the home or of hist's state holds the secret any more, and the databases are whole.
func TestRedactStoresKilled(t *testing.T) {
	const secret = "acme-4711-0815"
	args := []string{"redact", "--in-place", "--all-stores", "--pattern", "acme-[0-9-]+", "01a1edfd-e191-74b0-9003-79b97f4a7c15"}
	home := func(t *testing.T) *crashHome {
		h := newCrashHome(t)
		if code, out, _ := h.hist(t, nil, "repair", "--in-place", "--yes"); code != ExitOK {
			t.Fatalf("exit %d: %s", code, out)
		}
		h.state = t.TempDir()
		text := bytes.Replace(h.bytes(t), []byte(`"text":"`), []byte(`"text":"`+secret+` `), 1)
		for path, data := range map[string][]byte{h.session: text, filepath.Join(h.dir, "history.jsonl"): []byte(`{"session_id":"x","ts":1,"text":"` + secret + "\"}\n")} {
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		db, err := sql.Open("sqlite", filepath.Join(h.dir, "thread_history_1.sqlite"))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		for _, s := range []string{"PRAGMA journal_mode = WAL", "CREATE TABLE more (title TEXT, data BLOB)", "INSERT INTO more VALUES ('" + secret + "', CAST('see " + secret + "' AS BLOB))"} {
			if _, err := db.Exec(s); err != nil {
				t.Fatal(err)
			}
		}
		return h
	}
	holders := func(h *crashHome) (list []string) {
		for _, dir := range []string{h.dir, h.state} {
			err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
				if err == nil && d.Type().IsRegular() {
					data, err := os.ReadFile(path)
					if err != nil {
						return err
					}
					if bytes.Contains(data, []byte(secret)) {
						list = append(list, path)
					}
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		return list
	}
	whole := home(t)
	counted := filepath.Join(t.TempDir(), "steps")
	if code, out, _ := whole.hist(t, []string{dieAt + "=0", countSteps + "=" + counted}, args...); code != ExitOK || len(holders(whole)) > 0 {
		t.Fatalf("exit %d: %v still hold it: %s", code, holders(whole), out)
	}
	text, err := os.ReadFile(counted)
	if err != nil {
		t.Fatal(err)
	}
	steps, err := strconv.Atoi(string(text))
	if err != nil || steps < 20 {
		t.Fatalf("%s steps (%v)", text, err)
	}
	for at := 1; at <= steps; at += testkit.Stride(7) {
		h := home(t)
		if _, out, killed := h.hist(t, []string{dieAt + "=" + strconv.Itoa(at)}, args...); !killed {
			t.Fatalf("step %d: was not killed: %s", at, out)
		}
		code, out, _ := h.hist(t, nil, args...)
		if code != ExitOK {
			t.Errorf("step %d: exit %d: %s", at, code, out)
		}
		h.view(t)
		for _, path := range holders(h) {
			t.Errorf("step %d: %s holds the secret: %s", at, path, out)
		}
	}
}
