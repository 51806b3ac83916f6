package preresume

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	_ "modernc.org/sqlite" // the clients' list is one
)

// Old clients count in seconds: of two sessions of one second the last is the one that clients take.
func TestLastOfOneMoment(t *testing.T) {
	const older, newer = "01a20163-32b3-77f2-9827-be97b0fc132d", "01a20163-3407-7ef1-89fd-275d01a1f712"
	home := t.TempDir()
	db, err := sql.Open("sqlite", filepath.Join(home, "state_5.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	exec := func(query string, args ...any) {
		t.Helper()
		if _, err := db.Exec(query, args...); err != nil {
			t.Fatal(err)
		}
	}
	exec(`CREATE TABLE threads (id TEXT PRIMARY KEY, rollout_path TEXT, cwd TEXT, title TEXT, source TEXT, cli_version TEXT, updated_at INTEGER, archived INTEGER)`)
	for _, id := range []string{older, newer, "01a20163-0000-7000-8000-000000000000"} {
		path := filepath.Join(home, "rollout-2026-11-22T03-53-57-"+id+".jsonl")
		header := `{"timestamp":"2026-11-22T03:53:57.000Z","type":"session_meta","payload":{"id":"` + id + `","timestamp":"2026-11-22T03:53:57.000Z","cwd":"/w","originator":"codex_exec","cli_version":"0.114.0","source":"exec"}}` + "\n"
		if err := os.WriteFile(path, []byte(header), 0o600); err != nil {
			t.Fatal(err)
		}
		exec(`INSERT INTO threads VALUES (?, ?, '/w', '', 'exec', '0.114.0', 1795319637, 0)`, id, path)
	}
	last, err := Last(t.Context(), home, "/w", false)
	if err != nil || last == nil || last.Header.ID != newer {
		t.Errorf("%+v, %v, want %s", last, err, newer)
	}
}
