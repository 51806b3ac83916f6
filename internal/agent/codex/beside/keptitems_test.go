package beside

import (
	"fmt"
	"reflect"
	"testing"
)

// TestTies: what is read of a session hangs on its rows, and not on the order in which they were written.
func TestTies(t *testing.T) {
	var kept [2][]keptItem
	var turns [2][]keptTurn
	var views [2]projection
	for i, order := range [][]int{{0, 1, 2, 3}, {3, 1, 2, 0}} {
		home := t.TempDir()
		t.Setenv("CODEX_SQLITE_HOME", "")
		run(t, home,
			"CREATE TABLE thread_items (thread_id TEXT, turn_id TEXT, item_id TEXT, rollout_ordinal INTEGER, created_at_ms INTEGER, item_json TEXT)",
			`CREATE TABLE thread_turns (thread_id TEXT, turn_id TEXT, rollout_ordinal INTEGER, status TEXT, error_json TEXT, started_at INTEGER, completed_at INTEGER,
				duration_ms INTEGER, final_agent_item_id TEXT, rollout_byte_offset INTEGER)`,
			"CREATE TABLE thread_history_projection_state (thread_id TEXT PRIMARY KEY, next_rollout_byte_offset INTEGER, next_rollout_ordinal INTEGER)",
			"INSERT INTO thread_history_projection_state VALUES ('"+parentID+"', 7, 7)")
		for _, n := range order {
			run(t, home,
				fmt.Sprintf("INSERT INTO thread_items VALUES ('%s', 'turn%d', 'a', 4, 7, '{}')", parentID, n),
				fmt.Sprintf("INSERT INTO thread_turns VALUES ('%s', 'turn%d', 4, 'completed', NULL, 1, 1, 1, 'a', 9)", parentID, n))
		}
		var err error
		if kept[i], err = keptItems(t.Context(), home, parentID); err != nil {
			t.Fatal(err)
		}
		for n := range kept[i] {
			kept[i][n].row = 0
		}
		if _, turns[i], err = keptNames(t.Context(), home, parentID); err != nil {
			t.Fatal(err)
		}
		if views[i], _, err = projectionOf(t.Context(), home, parentID); err != nil {
			t.Fatal(err)
		}
	}
	if !reflect.DeepEqual(kept[0], kept[1]) || !reflect.DeepEqual(turns[0], turns[1]) || !reflect.DeepEqual(views[0], views[1]) || len(kept[0]) != 4 || len(turns[0]) != 4 || len(views[0].Turns) != 4 {
		t.Errorf("%+v\nand\n%+v\n%+v\nand\n%+v", kept[0], kept[1], views[0], views[1])
	}
}
