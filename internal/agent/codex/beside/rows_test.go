package beside

import (
	"bytes"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/disk"
)

// projectionTables is the form of the client's tables (0.169.0), without indexes.
var projectionTables = []string{
	`CREATE TABLE thread_turns (thread_id TEXT NOT NULL, turn_id TEXT NOT NULL, rollout_ordinal INTEGER NOT NULL, status TEXT NOT NULL, error_json TEXT,
		rollout_byte_offset INTEGER, rollout_end_ordinal INTEGER, rollout_end_byte_offset INTEGER, PRIMARY KEY (thread_id, turn_id))`,
	`CREATE TABLE thread_items (thread_id TEXT NOT NULL, turn_id TEXT NOT NULL, item_id TEXT NOT NULL, rollout_ordinal INTEGER NOT NULL, item_json TEXT NOT NULL,
		updated_at_ordinal INTEGER NOT NULL DEFAULT 0, done BOOLEAN, at TIMESTAMP, PRIMARY KEY (thread_id, turn_id, item_id))`,
	`CREATE TABLE thread_history_projection_state (thread_id TEXT PRIMARY KEY, next_rollout_byte_offset INTEGER NOT NULL, next_rollout_ordinal INTEGER NOT NULL)`,
	`CREATE TABLE thread_realtime_items (thread_id TEXT NOT NULL, item_id TEXT NOT NULL, PRIMARY KEY (thread_id, item_id))`,
	`CREATE TRIGGER thread_realtime_items_projection_cleanup AFTER DELETE ON thread_history_projection_state BEGIN DELETE FROM thread_realtime_items WHERE thread_id = OLD.thread_id; END`,
}

// projectedHome makes a home whose client has read two rollouts of three turns each, which end at bytes 1000, 2000 and 3000
// and at records 9, 19 and 29.
func projectedHome(t *testing.T, more ...string) string {
	t.Helper()
	t.Setenv("CODEX_SQLITE_HOME", "")
	home := t.TempDir()
	statements := append([]string{"BEGIN"}, projectionTables...)
	for _, id := range []string{parentID, childID} {
		for n := range 3 {
			statements = append(statements,
				fmt.Sprintf("INSERT INTO thread_turns VALUES ('%s', 'turn%d', %d, 'completed', NULL, %d, %d, %d)", id, n, n*10+1, n*1000+100, n*10+9, n*1000+1000),
				fmt.Sprintf("INSERT INTO thread_items VALUES ('%s', 'turn%d', 'a', %d, '{\"text\":\"a\"}', %[3]d, 1, '2026-11-22 00:00:00')", id, n, n*10+3),
				fmt.Sprintf("INSERT INTO thread_items VALUES ('%s', 'turn%d', 'b', %d, '{\"text\":\"b\"}', %[3]d, 0, NULL)", id, n, n*10+5))
		}
		statements = append(statements, fmt.Sprintf("INSERT INTO thread_history_projection_state VALUES ('%s', 3000, 30)", id))
	}
	run(t, home, append(append(statements, "COMMIT"), more...)...)
	return home
}

func run(t *testing.T, home string, statements ...string) {
	t.Helper()
	runIn(t, home, historyFile, statements...)
}

// saved is what SaveRows writes, and its hash.
func saved(t *testing.T, home, id string) (text, sum string) {
	t.Helper()
	var b bytes.Buffer
	if err := SaveRows(t.Context(), home, id, &b); err != nil {
		t.Fatal(err)
	}
	h := sha256.Sum256(b.Bytes())
	return b.String(), hex.EncodeToString(h[:])
}

// Rows of every kind of value come back as they were, and those of another rollout stay.
func TestRestore(t *testing.T) {
	home := projectedHome(t,
		"INSERT INTO thread_items VALUES ('"+parentID+"', 'turn0', 'c', 7, x'00ff22', 9007199254740993, 1.5e300, 0.1)",
		"INSERT INTO thread_items VALUES ('"+parentID+"', 'turn0', 'd', 8, CAST(x'61ff00' AS TEXT), -1, 'yes', 'a'||char(10)||char(0)||'<&>')",
		"INSERT INTO thread_realtime_items VALUES ('"+parentID+"', 'r')")
	before, sum := saved(t, home, parentID)
	others, _ := saved(t, home, childID)
	if n := strings.Count(before, "\n"); n != 1+4+3+8+1+1 {
		t.Fatalf("%d lines:\n%s", n, before)
	}
	types := typesOf(t, home)
	if n, err := rewind(t.Context(), home, parentID, sum, 0); err != nil || n < 12 {
		t.Fatal(n, err)
	}
	if now, _ := saved(t, home, parentID); now != "" {
		t.Fatalf("left:\n%s", now)
	}
	run(t, home, "INSERT INTO thread_history_projection_state VALUES ('"+parentID+"', 1, 1)") // the client has begun anew
	if ok, err := restore(t.Context(), home, parentID, "", strings.NewReader(before)); err != nil || !ok {
		t.Fatal(ok, err)
	}
	if now, _ := saved(t, home, parentID); now != before {
		t.Errorf("restored:\n%s\nwant:\n%s", now, before)
	}
	if now := typesOf(t, home); now != types {
		t.Errorf("types %s, want %s", now, types)
	}
	if now, _ := saved(t, home, childID); now != others {
		t.Errorf("the other rollout:\n%s\nwant:\n%s", now, others)
	}
}

// Rows that are not what they are said to be stay; nothing that was saved is no rows.
func TestRestoreOverOthers(t *testing.T) {
	home := projectedHome(t)
	before, sum := saved(t, home, parentID)
	if _, err := restore(t.Context(), home, parentID, strings.Repeat("0", len(sum)), nil); !errors.Is(err, ErrRows) {
		t.Error(err)
	}
	if now, _ := saved(t, home, parentID); now != before {
		t.Errorf("changed:\n%s", now)
	}
	if ok, err := restore(t.Context(), home, parentID, sum, nil); err != nil || !ok {
		t.Error(ok, err)
	}
	if now, _ := saved(t, home, parentID); now != "" {
		t.Errorf("left:\n%s", now)
	}
}

// typesOf lists what SQLite says of each value of thread_items.
func typesOf(t *testing.T, home string) (list string) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(home, historyFile))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	const query = `SELECT group_concat(typeof(item_json)||typeof(updated_at_ordinal)||typeof(done)||typeof(at)||hex(item_json)||hex(at)) 
		FROM (SELECT * FROM thread_items ORDER BY thread_id, turn_id, item_id)`
	if err := db.QueryRow(query).Scan(&list); err != nil {
		t.Fatal(err)
	}
	return list
}

// Only what was read behind the offset goes; where that can't be told, everything.
func TestRewind(t *testing.T) {
	for name, c := range map[string]struct {
		offset int64
		more   string
		cursor int64 // 0: every row is gone
		turns  int
	}{
		"behind a turn":                {2000, "", 2000, 2},
		"in a turn":                    {2999, "", 2000, 2},
		"in the second turn":           {1999, "", 1000, 1},
		"in the first turn":            {999, "", 0, 0},
		"all":                          {0, "", 0, 0},
		"an item was updated later":    {2500, "UPDATE thread_items SET updated_at_ordinal = 25 WHERE turn_id = 'turn0' AND item_id = 'a'", 0, 0},
		"an item of a turn elsewhere":  {2500, "UPDATE thread_items SET rollout_ordinal = 27 WHERE turn_id = 'turn0' AND item_id = 'a'", 0, 0},
		"a turn that never ended":      {2500, "UPDATE thread_turns SET rollout_end_ordinal = NULL, rollout_end_byte_offset = NULL WHERE turn_id = 'turn0'", 0, 0},
		"a live talk":                  {2500, "INSERT INTO thread_realtime_items VALUES ('" + parentID + "', 'r')", 0, 0},
		"a turn that never ended, new": {2500, "UPDATE thread_turns SET rollout_end_ordinal = NULL, rollout_end_byte_offset = NULL WHERE turn_id = 'turn2'", 2000, 2},
		"an older form":                {2500, "ALTER TABLE thread_turns DROP COLUMN rollout_end_byte_offset", 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var more []string
			if c.more != "" {
				more = []string{c.more}
			}
			home := projectedHome(t, more...)
			others, _ := saved(t, home, childID)
			_, sum := saved(t, home, parentID)
			if _, err := rewind(t.Context(), home, parentID, sum, c.offset); err != nil {
				t.Fatal(err)
			}
			view, ok, err := projectionOf(t.Context(), home, parentID)
			if err != nil || ok != (c.cursor > 0) || view.Offset != c.cursor || len(view.Turns) != c.turns || ok && view.Ordinal != c.cursor/100 {
				t.Errorf("%+v, %v, %v", view, ok, err)
			}
			text, _ := saved(t, home, parentID)
			if items := strings.Count(text, `,"{\"text`); items != 2*c.turns {
				t.Errorf("%d items of %d turns:\n%s", items, c.turns, text)
			}
			if now, _ := saved(t, home, childID); now != others {
				t.Errorf("the other rollout:\n%s\nwant:\n%s", now, others)
			}
		})
	}
}

func TestRewindOfChangedRows(t *testing.T) {
	home := projectedHome(t)
	_, sum := saved(t, home, parentID)
	run(t, home, "UPDATE thread_items SET item_json = 'new' WHERE item_id = 'a' AND turn_id = 'turn2'")
	now, _ := saved(t, home, parentID)
	if _, err := rewind(t.Context(), home, parentID, sum, 2000); !errors.Is(err, ErrRows) {
		t.Error(err)
	}
	if left, _ := saved(t, home, parentID); left != now {
		t.Errorf("changed:\n%s", left)
	}
}

// What can't be brought back changes nothing.
func TestRestoreRefused(t *testing.T) {
	home := projectedHome(t)
	before, _ := saved(t, home, parentID)
	for name, text := range map[string]string{
		"nothing":          "",
		"another rollout":  strings.Replace(before, parentID, childID, 1),
		"a row of another": strings.Replace(before, `["`+parentID, `["`+childID, 1),
		"another schema":   strings.Replace(before, `"schema":1`, `"schema":2`, 1),
		"another table":    strings.Replace(before, `"table":"thread_items"`, `"table":"sqlite_master"`, 1),
		"another column":   strings.Replace(before, `"item_json"`, `"item_yaml"`, 1),
		"no thread":        strings.Replace(before, `"columns":["thread_id",`, `"columns":[`, 1),
		"a short row":      strings.Replace(before, `["`+parentID+`",`, `[`, 1),
		"cut off":          before[:len(before)-5],
		"an odd value":     strings.Replace(before, `"turn0"`, `{"x":"turn0"}`, 1),
		"twice":            before + before[strings.Index(before, "\n")+1:],
	} {
		if text == before {
			t.Fatal(name)
		}
		if ok, err := restore(t.Context(), home, parentID, "", strings.NewReader(text)); err == nil || ok {
			t.Errorf("%s: %v, %v", name, ok, err)
		}
		if now, _ := saved(t, home, parentID); now != before {
			t.Fatalf("%s: changed:\n%s", name, now)
		}
	}
}

func TestNoDatabaseIsNotMade(t *testing.T) {
	t.Setenv("CODEX_SQLITE_HOME", "")
	home := t.TempDir()
	if n, err := rewind(t.Context(), home, parentID, "", 0); n != 0 || err != nil {
		t.Errorf("clearing nothing: %d, %v", n, err)
	}
	if ok, err := restore(t.Context(), home, parentID, "", strings.NewReader("")); ok || err != nil {
		t.Errorf("restoring nothing: %v, %v", ok, err)
	}
	if text, _ := saved(t, home, parentID); text != "" {
		t.Errorf("saved %q", text)
	}
	if entries, _ := os.ReadDir(home); len(entries) != 0 {
		t.Errorf("something was made: %v", entries)
	}
}

func TestUnknownSchemaIsLeftAlone(t *testing.T) {
	t.Setenv("CODEX_SQLITE_HOME", "")
	home := t.TempDir()
	run(t, home, "CREATE TABLE thread_items (thread_id TEXT)", "CREATE TABLE thread_turns (rollout TEXT)", "INSERT INTO thread_items VALUES ('"+parentID+"')")
	if _, err := rewind(t.Context(), home, parentID, "", 0); !errors.Is(err, errSchema) {
		t.Errorf("got %v, want ErrSchema", err)
	}
	if err := SaveRows(t.Context(), home, parentID, new(bytes.Buffer)); !errors.Is(err, errSchema) {
		t.Errorf("got %v, want ErrSchema", err)
	}
	run(t, home, "CREATE TABLE one_row AS SELECT 1/(SELECT count(*) FROM thread_items)") // fails if it is gone
}

// TestShared: who reads with a shared connection gets what who asks once gets, of a database that has come, gone or changed since, too.
func TestShared(t *testing.T) {
	home := projectedHome(t)
	ctx, remove := disk.WithScratch(t.Context())
	defer remove()
	same := func() (there bool) {
		t.Helper()
		for _, id := range []string{parentID, childID, "019a0000-0000-7000-8000-00000000000f"} {
			want, wantOK, err := projectionOf(t.Context(), home, id)
			got, ok, merr := projectionOf(ctx, home, id)
			if err != nil || merr != nil || ok != wantOK || got.Offset != want.Offset || got.Ordinal != want.Ordinal || !slices.Equal(got.Turns, want.Turns) {
				t.Errorf("%s: %+v, %t, %v; want %+v, %t, %v", id, got, ok, merr, want, wantOK, err)
			}
			there = there || ok
		}
		return there
	}
	if !same() {
		t.Fatal("there is no projection")
	}
	if p, _ := disk.Shared(ctx, newPool); len(p.idle[filepath.Join(home, historyFile)]) != 1 {
		t.Error("it is opened each time")
	}
	_, sum := saved(t, home, parentID)
	if _, err := rewind(t.Context(), home, parentID, sum, 2500); err != nil {
		t.Fatal(err)
	}
	same()
	client, err := sql.Open("sqlite", filepath.Join(home, historyFile))
	if err != nil {
		t.Fatal(err)
	}
	client.SetMaxOpenConns(1)
	for _, s := range []string{"PRAGMA journal_mode = wal", "UPDATE thread_history_projection_state SET next_rollout_ordinal = next_rollout_ordinal + 1"} {
		if _, err := client.Exec(s); err != nil {
			t.Fatal(err)
		}
		same()
	}
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	same()
	if err := os.Rename(filepath.Join(home, historyFile), filepath.Join(home, "away")); err != nil {
		t.Fatal(err)
	}
	if same() {
		t.Error("there is a projection without a database")
	}
	if err := os.WriteFile(filepath.Join(home, historyFile), []byte("no database, and long enough to be one of a few pages"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := projectionOf(ctx, home, parentID); err == nil {
		t.Error("no database, and no error")
	}
}

// TestReadWithoutIndex: a database with a -wal file and no -shm file, as in a copy of a home, is read with what stands in the
// -wal file, and nothing is made beside it or changed.
func TestReadWithoutIndex(t *testing.T) {
	home, copied := projectedHome(t), t.TempDir()
	db, err := sql.Open("sqlite", filepath.Join(home, historyFile))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, s := range []string{"PRAGMA journal_mode = WAL", "PRAGMA wal_autocheckpoint = 0", "UPDATE thread_history_projection_state SET next_rollout_byte_offset = 4000"} {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
	files := []string{historyFile, historyFile + "-wal"}
	before := map[string]string{}
	for _, name := range files {
		b, err := os.ReadFile(filepath.Join(home, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(copied, name), b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		before[name] = string(b)
	}
	p, ok, err := projectionOf(t.Context(), copied, parentID)
	if err != nil || !ok || p.Offset != 4000 {
		t.Errorf("%+v, %v, %v", p, ok, err)
	}
	left, err := os.ReadDir(copied)
	if err != nil || len(left) != len(files) {
		t.Errorf("there is %v now, %v", left, err)
	}
	for name, want := range before {
		if b, err := os.ReadFile(filepath.Join(copied, name)); err != nil || string(b) != want {
			t.Errorf("%s has changed, %v", name, err)
		}
	}
}
