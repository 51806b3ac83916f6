package inspect

import (
	"bytes"
	"database/sql"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hist-cli/hist/lint"
)

// opened is a database of a home, nil if the home does not have it.
func opened(t *testing.T, path string) *sql.DB {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		return nil // some homes have none, and SQLite would make it
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	db.Exec("PRAGMA synchronous = OFF") //nolint:errcheck // some are no databases
	return db
}

// run changes a database of a home, if the home has it and the tables.
func run(t *testing.T, dir, name string, statements ...string) {
	t.Helper()
	db := opened(t, filepath.Join(dir, name))
	if db == nil {
		return
	}
	defer db.Close()
	for _, s := range statements {
		db.Exec(s) //nolint:errcheck // some have other tables, or a file that is no database
	}
}

const (
	history = "thread_history_1.sqlite"
	state   = "state_5.sqlite"
)

// edit writes a file anew, if it is there.
func edit(t *testing.T, path string, do func(text []byte) []byte) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		return
	}
	put(t, path, do(text))
}

func put(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// sessionsOf are the session files of a home.
func sessionsOf(t *testing.T, dir string) (paths []string) {
	t.Helper()
	for _, below := range []string{"sessions", "archived_sessions"} {
		err := filepath.WalkDir(filepath.Join(dir, below), func(path string, e fs.DirEntry, err error) error {
			if err == nil && e.Type().IsRegular() {
				paths = append(paths, path)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return paths
}

// leftOver leaves a -wal file beside a database, as a client does that was killed.
func leftOver(t *testing.T, dir, name string, statements ...string) {
	t.Helper()
	path := filepath.Join(dir, name)
	db := opened(t, path)
	if db == nil {
		return
	}
	files := map[string][]byte{}
	for _, s := range append([]string{"PRAGMA journal_mode = WAL", "PRAGMA wal_autocheckpoint = 0"}, statements...) {
		db.Exec(s) //nolint:errcheck // some have other tables
	}
	for _, suffix := range []string{"", "-wal"} {
		text, err := os.ReadFile(path + suffix)
		if err != nil && suffix == "" {
			t.Fatal(err)
		}
		files[suffix] = text
	}
	db.Close()
	for suffix, text := range files {
		if len(text) > 0 {
			put(t, path+suffix, text)
		}
	}
}

// changes are what may become of a home.
func changes(t *testing.T) map[string]func(dir string) {
	first := func(dir string) string {
		if paths := sessionsOf(t, dir); len(paths) > 0 {
			return paths[0]
		}
		return filepath.Join(dir, "none")
	}
	inHistory := func(statements ...string) func(dir string) {
		return func(dir string) { run(t, dir, history, statements...) }
	}
	inState := func(statements ...string) func(dir string) {
		return func(dir string) { run(t, dir, state, statements...) }
	}
	random := func(name string) func(dir string) {
		return func(dir string) {
			edit(t, filepath.Join(dir, name), func(text []byte) []byte {
				r := rand.New(rand.NewPCG(uint64(len(text)), 1))
				for range 20 {
					if len(text) > 0 {
						text[r.IntN(len(text))] ^= 1 << r.IntN(8)
					}
				}
				return text
			})
		}
	}
	copied := func(to func(dir, from string) string) func(dir string) {
		return func(dir string) {
			from := first(dir)
			if text, err := os.ReadFile(from); err == nil {
				put(t, to(dir, from), text)
			}
		}
	}
	return map[string]func(dir string){
		"nothing":                    func(string) {},
		"history: texts":             inHistory("UPDATE thread_items SET item_json = replace(item_json, 'e', 'o')"),
		"history: one text":          inHistory("UPDATE thread_items SET item_json = replace(item_json, 'e', 'o') WHERE rowid = (SELECT max(rowid) FROM thread_items)"),
		"history: no first item":     inHistory("DELETE FROM thread_items WHERE rowid = (SELECT min(rowid) FROM thread_items)"),
		"history: no items":          inHistory("DELETE FROM thread_items"),
		"history: no last turn":      inHistory("DELETE FROM thread_turns WHERE rowid = (SELECT max(rowid) FROM thread_turns)"),
		"history: numbers":           inHistory("UPDATE thread_items SET rollout_ordinal = rollout_ordinal + 1"),
		"history: times":             inHistory("UPDATE thread_items SET created_at_ms = created_at_ms + 60000", "UPDATE thread_items SET completed_at_ms = completed_at_ms + 60000"),
		"history: status":            inHistory("UPDATE thread_turns SET status = 'failed'"),
		"history: offset":            inHistory("UPDATE thread_history_projection_state SET next_rollout_byte_offset = next_rollout_byte_offset + 1"),
		"history: no state":          inHistory("DELETE FROM thread_history_projection_state"),
		"history: a turn elsewhere":  inHistory("UPDATE thread_turns SET rollout_byte_offset = rollout_byte_offset + 1"),
		"history: of another thread": inHistory("UPDATE thread_items SET thread_id = '01a1edfd-e191-74b0-9003-79b97f4a7c99'"),
		"history: in another order":  inHistory("CREATE TABLE kept AS SELECT * FROM thread_items", "DELETE FROM thread_items", "INSERT INTO thread_items SELECT * FROM kept ORDER BY rowid DESC", "DROP TABLE kept"),
		"history: all of one number": inHistory("UPDATE thread_items SET rollout_ordinal = 4, created_at_ms = 1"),
		"history: an index":          inHistory("CREATE INDEX more ON thread_items (thread_id, item_id)"),
		"history: an index by kind":  inHistory("CREATE INDEX more ON thread_items (item_id)"),
		"history: another column":    inHistory("ALTER TABLE thread_turns ADD COLUMN more TEXT"),
		"history: a column renamed":  inHistory("ALTER TABLE thread_items RENAME COLUMN item_json TO item"),
		"history: without turns":     inHistory("DROP TABLE thread_turns"),
		"history: vacuum":            inHistory("DELETE FROM thread_turns", "VACUUM"),
		"history: gone":              func(dir string) { os.Remove(filepath.Join(dir, history)) },
		"history: cut": func(dir string) {
			edit(t, filepath.Join(dir, history), func(text []byte) []byte { return text[:len(text)/2] })
		},
		"history: damaged": random(history),
		"history: a -wal file": func(dir string) {
			leftOver(t, dir, history, "UPDATE thread_items SET item_json = replace(item_json, 'e', 'o')", "DELETE FROM thread_turns")
		},
		"history: an empty -wal file":     func(dir string) { put(t, filepath.Join(dir, history+"-wal"), nil) },
		"history: a -wal file of nothing": func(dir string) { put(t, filepath.Join(dir, history+"-wal"), bytes.Repeat([]byte("x"), 9000)) },
		"history: a journal":              func(dir string) { put(t, filepath.Join(dir, history+"-journal"), bytes.Repeat([]byte("x"), 600)) },
		"history: made": func(dir string) {
			put(t, filepath.Join(dir, history), nil)
			run(t, dir, history, "CREATE TABLE thread_items (thread_id TEXT)")
		},
		"state: a prompt":                 inState("UPDATE threads SET first_user_message = 'another prompt'"),
		"state: the directory and client": inState("UPDATE threads SET cwd = '/other', cli_version = '0.150.0', source = 'cli'"),
		"state: tokens":                   inState("UPDATE threads SET tokens_used = tokens_used + 17"),
		"state: elsewhere":                inState("UPDATE threads SET rollout_path = '/nowhere'"),
		"state: not listed":               inState("DELETE FROM threads"),
		"state: a -wal file":              func(dir string) { leftOver(t, dir, state, "UPDATE threads SET first_user_message = 'another prompt'") },
		"state: gone":                     func(dir string) { os.Remove(filepath.Join(dir, state)) },
		"state: damaged":                  random(state),
		"log: rows": func(dir string) {
			run(t, dir, "logs_2.sqlite", "UPDATE logs SET feedback_log_body = replace(feedback_log_body, 'e', 'o')", "DELETE FROM logs WHERE id % 2 = 0")
		},
		"log: gone": func(dir string) { os.Remove(filepath.Join(dir, "logs_2.sqlite")) },
		"prompts: another": func(dir string) {
			edit(t, filepath.Join(dir, "history.jsonl"), func(text []byte) []byte { return bytes.ReplaceAll(text, []byte(`"text":"`), []byte(`"text":"More: `)) })
		},
		"prompts: gone":                   func(dir string) { os.Remove(filepath.Join(dir, "history.jsonl")) },
		"another file: in the archive":    copied(func(dir, from string) string { return filepath.Join(dir, "archived_sessions", filepath.Base(from)) }),
		"another file: damaged, archived": func(dir string) { archiveCut(t, dir, first(dir)) },
		"another file: beside":            copied(func(_, from string) string { return from + ".zst" }),
		"another file: in conflict":       copied(func(_, from string) string { return strings.TrimSuffix(from, ".jsonl") + " (conflicted copy).jsonl" }),
		"another file: of another day":    copied(func(dir, from string) string { return filepath.Join(dir, "sessions/2026/01/01", filepath.Base(from)) }),
		"a session: one more":             func(dir string) { another(t, dir, first(dir)) },
		"a session: gone":                 func(dir string) { os.Remove(first(dir)) },
		"a session: cut":                  func(dir string) { edit(t, first(dir), func(text []byte) []byte { return text[:len(text)*2/3] }) },
		"a session: the same length": func(dir string) {
			edit(t, first(dir), func(text []byte) []byte { return bytes.ReplaceAll(text, []byte("a"), []byte("b")) })
		},
		"the config: databases elsewhere": func(dir string) {
			put(t, filepath.Join(dir, "config.toml"), []byte("sqlite_home = \"databases\"\n"))
			os.Mkdir(filepath.Join(dir, "databases"), 0o700)
		},
		"the config: databases moved": func(dir string) { moved(t, dir) },
	}
}

// prepared are what is done to homes before they are linted for the first time, by what becomes of them then.
func prepared(t *testing.T) map[string]func(dir string) {
	firstLines := func(drop func(line []byte, left int) bool) func(dir string) {
		return func(dir string) {
			paths := sessionsOf(t, dir)
			if len(paths) == 0 {
				return
			}
			edit(t, paths[0], func(text []byte) (kept []byte) {
				put(t, filepath.Join(dir+".aside", "archived_sessions", filepath.Base(paths[0])), text)
				lines := bytes.SplitAfter(text, []byte("\n"))
				for i, line := range lines {
					if !drop(line, len(lines)-i) {
						kept = append(kept, line...)
					}
				}
				return kept
			})
		}
	}
	return map[string]func(dir string){
		"later: the sessions": func(dir string) {
			for i, path := range sessionsOf(t, dir) {
				if i > 0 {
					aside(t, dir, path)
				}
			}
		},
		"later: the databases": func(dir string) {
			paths, err := filepath.Glob(filepath.Join(dir, "*.sqlite"))
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range paths {
				aside(t, dir, path)
			}
		},
		"later: the prompts":              func(dir string) { aside(t, dir, filepath.Join(dir, "history.jsonl")) },
		"later: the whole in the archive": firstLines(func(_ []byte, left int) bool { return left < 5 }),
	}
}

// aside moves a file of a home away for a while.
func aside(t *testing.T, dir, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		return
	}
	put(t, dir+".aside"+path[len(dir):], text)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

// back brings back what was moved away.
func back(t *testing.T, dir string) {
	t.Helper()
	if _, err := os.Stat(dir + ".aside"); err != nil {
		return
	}
	err := filepath.WalkDir(dir+".aside", func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			var text []byte
			text, err = os.ReadFile(path)
			put(t, dir+path[len(dir+".aside"):], text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// archiveCut puts the whole session into the archive, and cuts the one that is there.
func archiveCut(t *testing.T, dir, path string) {
	t.Helper()
	edit(t, path, func(text []byte) []byte {
		put(t, filepath.Join(dir, "archived_sessions", filepath.Base(path)), text)
		return text[:len(text)*3/4]
	})
}

// another adds a fork of a session.
func another(t *testing.T, dir, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	name := lint.NameOf(path, true)
	if err != nil || name.ThreadID == "" {
		return
	}
	const id = "01a1edfd-e191-74b0-9003-79b97f4a7c98"
	text = bytes.ReplaceAll(text, []byte(`"id":"`+name.ThreadID+`"`), []byte(`"id":"`+id+`","forked_from_id":"`+name.ThreadID+`"`))
	put(t, filepath.Join(filepath.Dir(path), strings.ReplaceAll(filepath.Base(path), name.ThreadID, id)), text)
}

// moved moves the databases of a home.
func moved(t *testing.T, dir string) {
	t.Helper()
	to := filepath.Join(dir, "databases")
	if err := os.Mkdir(to, 0o700); err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(dir, "*.sqlite*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if err := os.Rename(name, filepath.Join(to, filepath.Base(name))); err != nil {
			t.Fatal(err)
		}
	}
	put(t, filepath.Join(dir, "config.toml"), []byte("sqlite_home = \"databases\"\n"))
	run(t, to, history, "DELETE FROM thread_items")
}
