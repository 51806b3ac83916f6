package clienttest

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/agent/codex/home"
	"github.com/hist-cli/hist/internal/runs"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/lint"
	"github.com/hist-cli/hist/repair"
)

// repairFile repairs a session of a home as the command does.
func repairFile(t *testing.T, h *Home, path string, mode repair.Mode) *repair.Report {
	t.Helper()
	return repairFor(t, h, path, mode, "")
}

// repairFor is repairFile for a session that will be resumed by a client of that version.
func repairFor(t *testing.T, h *Home, path string, mode repair.Mode, version string) *repair.Report {
	t.Helper()
	src, err := source.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	rep, err := repair.Do(t.Context(), repair.Job{
		Source: src, Lint: lint.Options{Name: lint.NameOf(src.Real, true), For: map[string]string{"codex": version}}, Mode: mode, Home: h.Codex,
		Begin: func() (*runs.Run, error) { return runs.New("test") },
	})
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

func lintClean(t *testing.T, path string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	res, err := lint.Session(context.Background(), f, lint.Options{Name: lint.NameOf(path, true)})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range res.Findings {
		if x.Impact != lint.Notes {
			t.Errorf("line %d: %s: %s", x.Pos.Line, x.Rule.Name, x.Message)
		}
	}
}

// dropOutput takes the line out of a session that answers a call.
func dropOutput(t *testing.T, path, callID string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var kept [][]byte
	for _, line := range bytes.SplitAfter(text, []byte("\n")) {
		if !bytes.Contains(line, []byte(`_output"`)) || !bytes.Contains(line, []byte(`"`+callID+`"`)) {
			kept = append(kept, line)
		}
	}
	damaged := bytes.Join(kept, nil)
	if len(damaged) == len(text) {
		t.Fatalf("no output of %s in %s", callID, path)
	}
	if err := os.WriteFile(path, damaged, 0o600); err != nil {
		t.Fatal(err)
	}
}

// recordClean records a sound session; id is the session's, clean what the model is sent when it is resumed.
func recordClean(t *testing.T, h *Home) (rec Result, id string, clean []json.RawMessage) {
	t.Helper()
	rec, err := Record(t.Context(), h, "clean")
	if err != nil {
		t.Fatal(err)
	}
	if id, err = SessionID(rec.Rollout); err != nil {
		t.Fatal(err)
	}
	return rec, id, Input(h.Resume(t.Context(), id, Prompt).Requests[0].Body)
}

// A session that was damaged after its client had built databases from it is repaired in place: the client resumes
// it, sends the history in its order, and its databases agree with the file again. A second resume works, too.
func TestRepairInPlace(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	clients(t, func(t *testing.T, bin Binary) {
		h := newHome(t, bin)
		rec, id, clean := recordClean(t, h)
		dropOutput(t, rec.Rollout, "call_2")
		rep := repairFile(t, h, rec.Rollout, repair.InPlace)
		if rep.Unrepaired() || len(rep.Edits) == 0 {
			t.Fatalf("%+v", rep)
		}
		lintClean(t, rec.Rollout)
		for range 2 {
			res := h.Resume(t.Context(), id, Prompt)
			if res.Err != nil || res.ExitCode != 0 || len(res.Requests) != 1 || res.Rollout != rec.Rollout {
				t.Fatalf("%+v", res)
			}
			c := Compare(clean, Input(res.Requests[0].Body))
			if c.Aborted != 0 || !c.OrderKept || c.Sent+c.Changed != c.Clean {
				t.Errorf("%+v", c)
			}
		}
		lintClean(t, rec.Rollout)
		projectionAgrees(t, h, rec.Rollout)
	})
}

// projectionAgrees compares the rows of a rollout in thread_history_1.sqlite with the file: every turn begins at the
// byte and ordinal where its task_started stands, and the cursor is at the end.
func projectionAgrees(t *testing.T, h *Home, rollout string) {
	t.Helper()
	path := filepath.Join(h.Codex, "thread_history_1.sqlite")
	text, err := os.ReadFile(rollout)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil || !bytes.Contains(text, []byte(`"history_mode":"paginated"`)) {
		return // before paginated sessions there is no projection
	}
	starts := map[string][2]int64{}
	var offset int64
	for _, line := range bytes.SplitAfter(text, []byte("\n")) {
		var r struct {
			Ordinal int64
			Payload struct {
				Type   string
				TurnID string `json:"turn_id"`
			}
		}
		if json.Unmarshal(line, &r) == nil && r.Payload.Type == "task_started" {
			starts[r.Payload.TurnID] = [2]int64{r.Ordinal, offset}
		}
		offset += int64(len(line))
	}
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	name, _ := home.ParseName(filepath.Base(rollout))
	rows, err := db.Query("SELECT turn_id, rollout_ordinal, rollout_byte_offset FROM thread_turns WHERE thread_id = ?", name.RolloutID)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	turns := 0
	for rows.Next() {
		var id string
		var at [2]int64
		if err := rows.Scan(&id, &at[0], &at[1]); err != nil {
			t.Fatal(err)
		}
		turns++
		if starts[id] != at {
			t.Errorf("turn %s: the projection says %v, the file %v", id, at, starts[id])
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	if turns != len(starts) {
		t.Errorf("%d turns in the projection, %d in the file", turns, len(starts))
	}
	var cursor int64
	if err := db.QueryRow("SELECT next_rollout_byte_offset FROM thread_history_projection_state WHERE thread_id = ?", name.RolloutID).Scan(&cursor); err != nil || cursor != int64(len(text)) {
		t.Errorf("the cursor is at %d of %d (%v)", cursor, len(text), err)
	}
}

// The copy under a new id resumes beside the original, which resumes as before.
func TestRepairAsNewThread(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	clients(t, func(t *testing.T, bin Binary) {
		h := newHome(t, bin)
		rec, err := Record(t.Context(), h, "kill_in_tool")
		if err != nil {
			t.Fatal(err)
		}
		id, err := SessionID(rec.Rollout)
		if err != nil {
			t.Fatal(err)
		}
		before, err := os.ReadFile(rec.Rollout)
		if err != nil {
			t.Fatal(err)
		}
		rep := repairFile(t, h, rec.Rollout, repair.NewThread)
		if after, err := os.ReadFile(rec.Rollout); err != nil || !bytes.Equal(before, after) {
			t.Fatalf("the original changed (%v)", err)
		}
		copied := h.Resume(t.Context(), rep.Thread, Prompt)
		if copied.ExitCode != 0 || len(copied.Requests) != 1 || copied.Rollout != rep.Target {
			t.Fatalf("the copy does not resume: %+v", copied)
		}
		sent := string(copied.Requests[0].Body)
		// One call sleeps when the client is killed; what became of the patch beside it may be on the disk, on a busy machine.
		if strings.Contains(sent, `"aborted"`) || !strings.Contains(sent, "Outcome unknown") {
			t.Errorf("the copy's outputs are not sent: %s", sent)
		}
		lintClean(t, rep.Target)
		original := h.Resume(t.Context(), id, Prompt)
		if original.ExitCode != 0 || original.Rollout != rec.Rollout {
			t.Errorf("the original does not resume any more: %+v", original)
		}
	})
}
