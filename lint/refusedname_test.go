package lint

import (
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/source"
)

// TestRefusedNamesTheFile: outside a home, the commands that help against a refusal name the file, to which no id leads.
func TestRefusedNamesTheFile(t *testing.T) {
	src, err := source.Open("../fixtures/codex/rules/refused/bad-unsaid.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	for home, want := range map[bool]string{false: "hist cut " + src.Real + " ", true: "hist cut 01a21e00-4c11-7d20-9b01-6a1f0c2d3e4f "} {
		name := NameOf("rollout-2026-11-24T08-10-00-01a21e00-4c11-7d20-9b01-6a1f0c2d3e4f.jsonl", home)
		res, err := Source(t.Context(), src, Options{Name: name})
		if err != nil || len(res.Findings) == 0 || !strings.Contains(res.Findings[len(res.Findings)-1].Message, want) {
			t.Errorf("%v, %v: %+v", home, err, res)
		}
	}
}
