package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

const (
	parentID = "019a0000-0000-7000-8000-000000000001"
	childID  = "019a0000-0000-7000-8000-000000000002"
)

// history makes a home whose history database holds rows of two rollouts.
func history(t *testing.T, schema ...string) string {
	t.Helper()
	home := t.TempDir()
	db, err := sql.Open("sqlite", filepath.Join(home, historyFile))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if len(schema) == 0 {
		schema = []string{
			"CREATE TABLE thread_items (thread_id TEXT, item_id TEXT)",
			"CREATE TABLE thread_turns (thread_id TEXT, turn_id TEXT)",
			"CREATE TABLE thread_history_projection_state (thread_id TEXT PRIMARY KEY, next_rollout_byte_offset INTEGER, next_rollout_ordinal INTEGER)",
		}
		for i, id := range []string{parentID, childID} {
			schema = append(schema,
				fmt.Sprintf("INSERT INTO thread_items VALUES ('%s','a'), ('%s','b')", id, id),
				fmt.Sprintf("INSERT INTO thread_turns VALUES ('%s','t')", id),
				fmt.Sprintf("INSERT INTO thread_history_projection_state VALUES ('%s', %d, %d)", id, 1000+i, 10+i))
		}
	}
	for _, s := range schema {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	return home
}

func TestClearTakesOneRolloutOnly(t *testing.T) {
	t.Setenv("CODEX_SQLITE_HOME", "")
	home, ctx := history(t), context.Background()
	if c, ok, err := Projected(ctx, home, parentID); err != nil || !ok || c.Offset != 1000 || c.Ordinal != 10 {
		t.Fatalf("position before: %v %v %v", c, ok, err)
	}
	if n, err := Clear(ctx, home, parentID); err != nil || n != 4 {
		t.Fatalf("cleared %d rows, %v; want 4", n, err)
	}
	if _, ok, err := Projected(ctx, home, parentID); ok || err != nil {
		t.Errorf("the cursor is still there (%v)", err)
	}
	if c, ok, err := Projected(ctx, home, childID); err != nil || !ok || c.Offset != 1001 {
		t.Errorf("the other rollout's cursor: %v %v %v", c, ok, err)
	}
}

func TestNoDatabaseIsNotMade(t *testing.T) {
	t.Setenv("CODEX_SQLITE_HOME", "")
	home := t.TempDir()
	if n, err := Clear(context.Background(), home, parentID); n != 0 || err != nil {
		t.Errorf("clearing nothing: %d, %v", n, err)
	}
	if entries, _ := os.ReadDir(home); len(entries) != 0 {
		t.Errorf("something was made: %v", entries)
	}
}

func TestUnknownSchemaIsLeftAlone(t *testing.T) {
	t.Setenv("CODEX_SQLITE_HOME", "")
	home := history(t, "CREATE TABLE thread_items (thread_id TEXT)", "CREATE TABLE thread_turns (rollout TEXT)",
		"INSERT INTO thread_items VALUES ('"+parentID+"')")
	if _, err := Clear(context.Background(), home, parentID); !errors.Is(err, ErrSchema) {
		t.Errorf("got %v, want ErrSchema", err)
	}
	db, err := sql.Open("sqlite", filepath.Join(home, historyFile))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var n int
	if err := db.QueryRow("SELECT count(*) FROM thread_items").Scan(&n); err != nil || n != 1 {
		t.Errorf("%d rows left, %v; want 1", n, err)
	}
}

func TestDirFollowsConfigAndEnvironment(t *testing.T) {
	t.Setenv("CODEX_SQLITE_HOME", "")
	home := t.TempDir()
	if got := Dir(home); got != home {
		t.Errorf("default: %s", got)
	}
	write(t, filepath.Join(home, "config.toml"), "sqlite_home = \"db\"\n[features]\nplugins = false\n")
	if got, want := Dir(home), filepath.Join(home, "db"); got != want {
		t.Errorf("config: %s, want %s", got, want)
	}
	t.Setenv("CODEX_SQLITE_HOME", "/elsewhere")
	if got := Dir(home); got != "/elsewhere" {
		t.Errorf("environment: %s", got)
	}
}

func TestDependants(t *testing.T) {
	home := t.TempDir()
	header := `{"timestamp":"2026-10-01T09:00:00.000Z","ordinal":7,"type":"session_meta","payload":{"id":"%s","history_mode":"paginated"%s}}` + "\n"
	base := `,"history_base":{"thread_id":"` + parentID + `","end_ordinal_exclusive":7,"end_byte_offset":4096}`
	write(t, filepath.Join(home, "sessions/2026/10/01/rollout-2026-10-01T09-00-00-"+parentID+".jsonl"), fmt.Sprintf(header, parentID, ""))
	fork := filepath.Join(home, "archived_sessions/rollout-2026-10-01T10-00-00-"+childID+".jsonl")
	write(t, fork, fmt.Sprintf(header, childID, base))
	write(t, filepath.Join(home, "sessions/2026/10/01/rollout-2026-10-01T11-00-00-019a0000-0000-7000-8000-000000000003.jsonl"), "no header\n")
	got, err := Dependants(context.Background(), home, parentID)
	if err != nil || len(got) != 1 || got[0] != (Dependant{fork, 4096}) {
		t.Errorf("got %v, %v", got, err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
