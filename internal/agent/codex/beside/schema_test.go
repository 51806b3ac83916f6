package beside

import (
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/agent"
)

// endless is the tail of a view that never ends.
const endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT "

// What a client never makes is neither read nor written.
func TestHostileForms(t *testing.T) {
	view := "ALTER TABLE thread_items RENAME TO q; CREATE VIEW thread_items AS "
	for name, c := range map[string]struct {
		statement, says string
		readable        bool
	}{
		"an endless view":         {view + endless + "'" + parentID + "' AS thread_id, 't' AS turn_id, x AS item_id, x AS rollout_ordinal, '' AS item_json FROM c", "thread_items is a view", false},
		"a view of other rows":    {view + "SELECT * FROM q; CREATE TRIGGER t INSTEAD OF DELETE ON thread_items BEGIN DELETE FROM q; END", "thread_items is a view", false},
		"a virtual table":         {"DROP TABLE thread_realtime_items; CREATE VIRTUAL TABLE thread_realtime_items USING fts5(thread_id)", "virtual table", false},
		"without case":            {"ALTER TABLE thread_items ADD COLUMN z TEXT COLLATE NOCASE", "COLLATE", false},
		"replacing":               {"ALTER TABLE thread_items ADD COLUMN z INTEGER NOT NULL ON CONFLICT REPLACE DEFAULT 1", "ON CONFLICT", false},
		"deletes others":          {"CREATE TRIGGER t AFTER DELETE ON thread_items BEGIN DELETE FROM thread_turns; END", `("t")`, true},
		"under a client's name":   {"DROP TRIGGER thread_realtime_items_projection_cleanup; CREATE TRIGGER thread_realtime_items_projection_cleanup AFTER DELETE ON thread_items BEGIN DELETE FROM thread_turns; END", "trigger", true},
		"changes what is updated": {"CREATE TRIGGER t AFTER UPDATE ON thread_history_projection_state BEGIN DELETE FROM thread_items; END", `("t")`, true},
	} {
		t.Run(name, func(t *testing.T) {
			home := projectedHome(t, c.statement)
			_, _, err := projectionOf(t.Context(), home, parentID)
			if c.readable != (err == nil) || err != nil && !(errors.Is(err, errSchema) && strings.Contains(err.Error(), c.says)) {
				t.Errorf("read: %v", err)
			}
			if !c.readable {
				return
			}
			before, sum := saved(t, home, parentID)
			others, _ := saved(t, home, childID)
			if _, err := rewind(t.Context(), home, parentID, sum, 0); !errors.Is(err, errSchema) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("rewound: %v", err)
			}
			if _, err := restore(t.Context(), home, parentID, "", strings.NewReader(before)); !errors.Is(err, errSchema) {
				t.Errorf("restored: %v", err)
			}
			if now, _ := saved(t, home, parentID); now != before {
				t.Errorf("changed:\n%s", now)
			}
			if now, _ := saved(t, home, childID); now != others {
				t.Errorf("the other rollout changed:\n%s", now)
			}
		})
	}
}

// A value that is too long to be held is not read, and a row that is can't be saved, so nothing is cleared.
func TestHugeCells(t *testing.T) {
	for name, update := range map[string]string{
		"a value": "item_json = CAST(zeroblob(40000000) AS TEXT)",
		"a row":   "item_json = CAST(zeroblob(20000000) AS TEXT), done = zeroblob(20000000)",
	} {
		t.Run(name, func(t *testing.T) {
			home := projectedHome(t, "UPDATE thread_items SET "+update+" WHERE turn_id = 'turn0' AND item_id = 'a' AND thread_id = '"+parentID+"'")
			if _, _, err := projectionOf(t.Context(), home, parentID); err != nil && !errors.Is(err, errSchema) {
				t.Error(err)
			}
			var none strings.Builder
			if err := SaveRows(t.Context(), home, parentID, &none); !errors.Is(err, errSchema) || !strings.Contains(err.Error(), "more than 32 MiB") {
				t.Error(err)
			}
			if text, _ := saved(t, home, childID); text == "" {
				t.Error("the other rollout can't be saved")
			}
		})
	}
}

// A list that is longer than any client's is not read.
func TestManyThreads(t *testing.T) {
	t.Setenv("CODEX_SQLITE_HOME", "")
	threads := func(n int, title string) (home string) {
		home = t.TempDir()
		runIn(t, home, "state_5.sqlite", "CREATE TABLE threads (id TEXT, rollout_path TEXT, cwd TEXT, title TEXT, source TEXT, cli_version TEXT, updated_at INTEGER, archived INTEGER)",
			"CREATE TABLE backfill_state (status TEXT)", "INSERT INTO backfill_state VALUES ('complete')",
			fmt.Sprintf("WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c LIMIT %d) INSERT INTO threads SELECT 'id'||x, '/x', '/', %s, 'cli', '', 1, 0 FROM c", n, title))
		return home
	}
	if list, err := Open(t.Context(), threads(4, "''")).Threads(t.Context()); err != nil || len(list) != 4 {
		t.Error(list, err)
	}
	defer func(most int) { maxRows = most }(maxRows)
	maxRows = 1 << 10
	many := threads(maxRows+1, "''")
	if _, err := ReadIndex(t.Context(), many); !errors.Is(err, errSchema) {
		t.Error(err)
	}
	if _, err := Open(t.Context(), many).Threads(t.Context()); !errors.Is(err, errSchema) {
		t.Error(err)
	}
	if _, err := Open(t.Context(), threads(4, "CAST(zeroblob(30000000) AS TEXT)")).Threads(t.Context()); !errors.Is(err, errSchema) { // each is short enough, all are not
		t.Error(err)
	}
}

// Rows that a database does not take as they were are not brought back, and those that it has stay.
func TestRestoreNotTaken(t *testing.T) {
	for name, changed := range map[string]string{
		"a check": "PRAGMA writable_schema = 1; UPDATE sqlite_schema SET sql = replace(sql, 'item_json TEXT NOT NULL', 'item_json TEXT NOT NULL CHECK (item_json = 1)') WHERE name = 'thread_items'",
		"a type":  "PRAGMA writable_schema = 1; UPDATE sqlite_schema SET sql = replace(sql, 'at TIMESTAMP', 'at TEXT') WHERE name = 'thread_items'",
	} {
		t.Run(name, func(t *testing.T) {
			home := projectedHome(t, "UPDATE thread_items SET at = 7 WHERE item_id = 'a'")
			text, sum := saved(t, home, parentID)
			if _, err := rewind(t.Context(), home, parentID, sum, 0); err != nil {
				t.Fatal(err)
			}
			others, _ := saved(t, home, childID)
			run(t, home, changed)
			if ok, err := restore(t.Context(), home, parentID, "", strings.NewReader(text)); ok || !errors.Is(err, errSchema) {
				t.Error(ok, err)
			}
			if now, _ := saved(t, home, parentID); now != "" {
				t.Errorf("a part was brought back:\n%s", now)
			}
			if now, _ := saved(t, home, childID); now != others {
				t.Errorf("the other rollout changed:\n%s", now)
			}
		})
	}
}

// A copy is not listed where that would change other threads' rows.
func TestEnlistWithTrigger(t *testing.T) {
	t.Setenv("CODEX_SQLITE_HOME", "")
	home := t.TempDir()
	const file = "state_5.sqlite"
	runIn(t, home, file, "CREATE TABLE threads (id TEXT PRIMARY KEY, rollout_path TEXT, cwd TEXT, title TEXT, source TEXT, cli_version TEXT, updated_at INTEGER, archived INTEGER, created_at INTEGER, created_at_ms INTEGER)",
		"INSERT INTO threads VALUES ('"+parentID+"', '/x', '/', 't', 'cli', '0.171.0', 1, 0, 1, 1), ('"+childID+"', '/y', '/', 't', 'cli', '0.171.0', 1, 0, 1, 1)", triggers[1])
	copied := agent.Copied{ID: "copy", Path: "/z"}
	if ok, err := Open(t.Context(), home).Enlist(t.Context(), parentID, copied); err != nil || !ok {
		t.Fatal(ok, err) // the client's own trigger is none of that kind
	}
	if err := Open(t.Context(), home).Delist(t.Context(), "copy", "/z"); err != nil {
		t.Fatal(err)
	}
	runIn(t, home, file, "CREATE TRIGGER t AFTER INSERT ON threads BEGIN DELETE FROM threads WHERE id <> NEW.id; END")
	if ok, err := Open(t.Context(), home).Enlist(t.Context(), parentID, copied); ok || !errors.Is(err, errSchema) {
		t.Error(ok, err)
	}
	if list, err := Open(t.Context(), home).Threads(t.Context()); err != nil || len(list) != 2 {
		t.Error(list, err)
	}
}

func runIn(t *testing.T, home, file string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(home, file)+"?_pragma=synchronous(off)") // no power is lost
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // a transaction stays in its connection
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// A value of another type than clients write is no error of the driver's: the database is one of unknown form, or what does not fit is not
// used; and rows with it are cleared and brought back like any other.
func TestOddValues(t *testing.T) {
	untyped := func(table string) string {
		return "CREATE TABLE q AS SELECT * FROM " + table + "; DROP TABLE " + table + "; ALTER TABLE q RENAME TO " + table + "; UPDATE " + table + " SET "
	}
	state, turns, items := untyped("thread_history_projection_state"), untyped("thread_turns"), untyped("thread_items")
	for _, odd := range []string{
		state + "next_rollout_byte_offset = NULL", state + "next_rollout_ordinal = 'abc'", state + "next_rollout_byte_offset = 1e300",
		turns + "rollout_byte_offset = 'abc'", turns + "rollout_end_ordinal = 9223372036854775807", turns + "turn_id = NULL", turns + "status = NULL", turns + "rollout_end_byte_offset = x'00'",
		items + "rollout_ordinal = 'abc'", items + "item_json = NULL", items + "updated_at_ordinal = NULL", items + "item_id = NULL", items + "item_json = x'ff'",
	} {
		t.Run(odd, func(t *testing.T) {
			home := projectedHome(t, odd+" WHERE thread_id = '"+parentID+"'")
			_, _, err := projectionOf(t.Context(), home, parentID)
			_, _, names := keptNames(t.Context(), home, parentID)
			kept, list := keptItems(t.Context(), home, parentID)
			_, texts := keptText(t.Context(), home, parentID, kept, 1<<20)
			for _, err := range []error{err, names, list, texts} {
				if err != nil && (!errors.Is(err, errSchema) || strings.Contains(err.Error(), "Scan")) {
					t.Errorf("read: %v", err)
				}
			}
			before, sum := saved(t, home, parentID)
			others, _ := saved(t, home, childID)
			if _, err := rewind(t.Context(), home, parentID, sum, 1500); err != nil {
				t.Fatalf("rewound: %v", err)
			}
			if ok, err := restore(t.Context(), home, parentID, "", strings.NewReader(before)); err != nil || !ok {
				t.Errorf("restored: %v", err)
			}
			if now, _ := saved(t, home, parentID); now != before {
				t.Errorf("changed:\n%s", now)
			}
			if now, _ := saved(t, home, childID); now != others {
				t.Errorf("the other rollout changed:\n%s", now)
			}
		})
	}
}
