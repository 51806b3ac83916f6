package preresume

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // the clients' list is one
)

const threadColumns = "id TEXT PRIMARY KEY, rollout_path TEXT, cwd TEXT, title TEXT, source TEXT, cli_version TEXT, updated_at INTEGER, archived INTEGER"

// Old clients count in seconds: of two sessions of one second the last is the one that clients take.
func TestLastOfOneMoment(t *testing.T) {
	const older, newer = "01a20163-32b3-77f2-9827-be97b0fc132d", "01a20163-3407-7ef1-89fd-275d01a1f712"
	list := newList(t, threadColumns)
	for _, id := range []string{older, newer, "01a20163-0000-7000-8000-000000000000"} {
		list.add(t, id, "0.114.0", 1795319637)
	}
	list.lastIs(t, newer)
}

// A client that was killed early has left a row without a prompt: clients pass over it.
func TestLastWithoutPrompt(t *testing.T) {
	const older, newer = "01a20163-32b3-77f2-9827-be97b0fc132d", "01a20163-3407-7ef1-89fd-275d01a1f712"
	for name, c := range map[string]struct {
		version, columns string
		values           []any // of the newer one
		want             string
	}{
		"no prompt":                  {"0.114.0", "first_user_message TEXT", []any{""}, older},
		"a prompt":                   {"0.114.0", "first_user_message TEXT", []any{"hello"}, newer},
		"no preview":                 {"0.169.0", "first_user_message TEXT, preview TEXT", []any{"hello", ""}, older},
		"a preview without a prompt": {"0.169.0", "first_user_message TEXT, preview TEXT", []any{"", "hello"}, newer},
	} {
		t.Run(name, func(t *testing.T) {
			list := newList(t, threadColumns+", "+c.columns)
			said := make([]any, len(c.values))
			for i := range said {
				said[i] = "hello"
			}
			list.add(t, older, c.version, 1795319637, said...)
			list.add(t, newer, c.version, 1795319638, c.values...)
			list.lastIs(t, c.want)
		})
	}
}

// threadList is a home with a client's list of threads.
type threadList struct {
	home string
	db   *sql.DB
}

func newList(t *testing.T, columns string) threadList {
	t.Helper()
	home := t.TempDir()
	db, err := sql.Open("sqlite", filepath.Join(home, "state_5.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := db.Exec("CREATE TABLE threads (" + columns + ")"); err != nil {
		t.Fatal(err)
	}
	return threadList{home, db}
}

// add makes a session and its row; more are the values of the columns behind threadColumns.
func (l threadList) add(t *testing.T, id, version string, updated int64, more ...any) {
	t.Helper()
	path := filepath.Join(l.home, "rollout-2026-11-22T03-53-57-"+id+".jsonl")
	header := `{"timestamp":"2026-11-22T03:53:57.000Z","type":"session_meta","payload":{"id":"` + id + `","timestamp":"2026-11-22T03:53:57.000Z","cwd":"/w","originator":"codex_exec","cli_version":"` + version + `","source":"exec"}}` + "\n"
	if err := os.WriteFile(path, []byte(header), 0o600); err != nil {
		t.Fatal(err)
	}
	values := append([]any{id, path, "/w", "", "exec", version, updated, 0}, more...)
	if _, err := l.db.Exec("INSERT INTO threads VALUES (?"+strings.Repeat(", ?", len(values)-1)+")", values...); err != nil {
		t.Fatal(err)
	}
}

func (l threadList) lastIs(t *testing.T, want string) {
	t.Helper()
	if person, err := Last(t.Context(), l.home, "/w", false); person != nil || err != nil {
		t.Errorf("a thread of codex exec is the last one for a person: %v, %v", person, err)
	}
	last, err := Last(t.Context(), l.home, "/w", true)
	if err != nil || last == nil || last.Header.ID != want {
		t.Errorf("%+v, %v, want %s", last, err, want)
	}
}
