package timeline

import (
	"context"
	"os"
	"testing"
)

// TestScripts: each call that a script made has an entry, which names the open script or wait that it belongs to.
func TestScripts(t *testing.T) {
	f, err := os.Open("../../fixtures/codex/healthy/code-mode/session.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	within, notes := map[string][]string{}, 0
	err = Read(context.Background(), f, Options{}, func(e *Entry) error {
		switch {
		case e.Kind == Call && e.Within != "":
			within[e.Within] = append(within[e.Within], e.Tool+" "+e.Outcome.State.String())
		case e.Kind == Note:
			notes++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string][]string{
		"call_1": {"exec_command failed", "exec_command ok"},
		"call_2": {"mcp__t__lookup ok"},
		"call_3": {"apply_patch ok"},
		"call_5": {"exec_command ok"},
	} {
		if got := within[id]; len(got) != len(want) || got[0] != want[0] || got[len(got)-1] != want[len(want)-1] {
			t.Errorf("%s ran %v, want %v", id, got, want)
		}
	}
	if notes != 2 {
		t.Errorf("%d notes, want 2", notes)
	}
}
