package beside

import (
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	"github.com/hist-cli/hist/internal/agent"
	codexhome "github.com/hist-cli/hist/internal/agent/codex/home"
)

// TestEnlist: a copy is listed as its original is, with a prompt where that has none.
func TestEnlist(t *testing.T) {
	const row = "title, first_user_message, preview"
	for name, c := range map[string]struct{ original, want [3]string }{
		"killed before it wrote the prompt": {[3]string{"", "", ""}, [3]string{"hello", "hello", "hello"}},
		"with a name of its own":            {[3]string{"my name", "hi", "hi there"}, [3]string{"my name", "hi", "hi there"}},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			db, err := sql.Open("sqlite", filepath.Join(home, codexhome.StateFile))
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if _, err := db.Exec("CREATE TABLE threads (id TEXT PRIMARY KEY, rollout_path TEXT, cwd TEXT, source TEXT, cli_version TEXT, updated_at INTEGER, archived INTEGER, " + row + ")"); err != nil {
				t.Fatal(err)
			}
			if _, err := db.Exec("INSERT INTO threads VALUES (?, '/old', '/w', 'exec', '0.114.0', 1, 1, ?, ?, ?)", parentID, c.original[0], c.original[1], c.original[2]); err != nil {
				t.Fatal(err)
			}
			made := time.Unix(1795319637, 0).UTC()
			if listed, err := Open(t.Context(), home).Enlist(t.Context(), parentID, agent.Copied{ID: childID, Path: "/new", Prompt: "hello", Made: made}); !listed || err != nil {
				t.Fatal(listed, err)
			}
			var got [3]string
			if err := db.QueryRow("SELECT "+row+" FROM threads WHERE id = ?", childID).Scan(&got[0], &got[1], &got[2]); err != nil || got != c.want {
				t.Errorf("%q, %v, want %q", got, err, c.want)
			}
			threads, err := Open(t.Context(), home).Threads(t.Context())
			if err != nil || len(threads) != 2 {
				t.Fatal(threads, err)
			}
			want := agent.Thread{ID: childID, Path: "/new", CWD: "/w", Title: c.want[0], Version: "0.114.0", Updated: made}
			for _, thread := range threads {
				if thread.ID == childID && thread != want {
					t.Errorf("%+v, want %+v", thread, want)
				}
				if unasked := c.original[2] == ""; thread.ID == parentID && thread.Unasked != unasked {
					t.Errorf("the original is unasked: %v", thread.Unasked)
				}
			}
		})
	}
}
