package clienttest

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/agent/codex/beside"
	"github.com/hist-cli/hist/internal/runs"
	"github.com/hist-cli/hist/repair"
)

// rows is all that the client's database holds of a session.
func rows(t *testing.T, h *Home, path string) string {
	t.Helper()
	id, err := beside.RolloutID(path)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := beside.SaveRows(t.Context(), h.Codex, id, &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// claims is what undo asks of a home.
func claims(h *Home) repair.Claims {
	return repair.Claims{HomeOf: func(string) string { return h.Codex }}
}

// After a repair in place the client's view has no more than what it has read of bytes that did not move, and the client
// makes of it, at the next resume, exactly the rows that it makes of the whole file when it has none. An undo brings
// the rows back as they were, those that nothing else holds included.
// Older clients write no paginated sessions here, of which alone there is a view.
func TestRepairKeepsTheView(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	clientsSince(t, "0.150.0", func(t *testing.T, bin Binary) {
		h, path, id := recorded(t, bin, "clean")
		sent(t, h, id) // a second turn
		sent(t, h, id) // and a third one
		if rows(t, h, path) == "" {
			t.Skip("this client writes no paginated session here")
		}
		execute(t, h, "thread_history_1.sqlite", `UPDATE thread_items SET item_json = replace(item_json, '"text":"ok"', '"text":"only here"') WHERE item_type = 'agentMessage'`)
		dropLastAnswer(t, path)
		before, damaged := rows(t, h, path), readAll(t, path)

		rep := repairFile(t, h, path, repair.InPlace)
		if rep.Unrepaired() || len(rep.Edits) == 0 {
			t.Fatalf("%+v", rep)
		}
		kept := rows(t, h, path)
		if n := turnsIn(kept); n != 2 {
			t.Errorf("%d turns kept, want 2:\n%s", n, kept)
		}
		run, err := runs.Load(rep.Run)
		if err != nil {
			t.Fatal(err)
		}
		if done, err := run.Undo(t.Context(), claims(h)); err != nil || len(done) != 1 || done[0].Note != "" {
			t.Fatal(done, err)
		}
		if now := rows(t, h, path); now != before {
			t.Errorf("undone:\n%s\nwant:\n%s", now, before)
		}
		if now := readAll(t, path); now != damaged {
			t.Error("the session is not what it was")
		}

		repairFile(t, h, path, repair.InPlace)
		repaired := readAll(t, path)
		sent(t, h, id)
		continued := view(rows(t, h, path))
		projectionAgrees(t, h, path)

		// The same from nothing: the bytes before the resume, and no rows.
		if err := os.WriteFile(path, []byte(readAll(t, path)), 0o600); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(readAll(t, path), repaired) {
			t.Fatal("the client has changed what stood there")
		}
		clearView(t, h, path)
		sent(t, h, id)
		anew := view(rows(t, h, path))
		for _, row := range continued {
			if !slices.Contains(anew, row) && !strings.Contains(row, "only here") && !strings.Contains(row, "thread_history_projection_state") {
				t.Errorf("the client would not have made this row: %s", row)
			}
		}
	})
}

// view is the rows without the cursor and the names of the tables.
func view(text string) (list []string) {
	for row := range strings.Lines(text) {
		if strings.Count(row, ",") > 3 && strings.HasPrefix(row, "[") {
			list = append(list, row)
		}
	}
	return list
}

func turnsIn(text string) (n int) {
	for _, row := range view(text) {
		if strings.Contains(row, `"completed"`) && !strings.Contains(row, `{`) {
			n++
		}
	}
	return n
}

func clearView(t *testing.T, h *Home, path string) {
	t.Helper()
	id, err := beside.RolloutID(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"thread_items", "thread_turns", "thread_history_projection_state"} {
		execute(t, h, "thread_history_1.sqlite", "DELETE FROM "+table+" WHERE thread_id = '"+id+"'")
	}
}
