package claude_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/hist-cli/hist/lint"
)

// TestSummaryWithoutMark: of a summary without a parent clients send the same with and without the mark in front of it, unless
// the mark would name what was kept, which versions before 2.1.215 do not write.
func TestSummaryWithoutMark(t *testing.T) {
	text, err := os.ReadFile("../../../fixtures/claude/rules/lost-boundary/bad.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	parent := []byte(`"parentUuid":"22222222-1111-4111-8111-000000000001"`)
	if !bytes.Contains(text, parent) {
		t.Fatal("the fixture has changed")
	}
	text = bytes.Replace(text, parent, []byte(`"parentUuid":null`), 1)
	for version, want := range map[string]bool{"2.1.2": false, "2.1.100": false, "2.1.215": true, "2.1.330": true} {
		session := bytes.ReplaceAll(text, []byte(`"version":"2.1.330"`), []byte(`"version":"`+version+`"`))
		res, err := lint.Session(t.Context(), bytes.NewReader(session), lint.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := find(res.Findings, "lost-boundary") >= 0; got != want {
			t.Errorf("%s: lost-boundary is found: %v, want %v: %+v", version, got, want, res.Findings)
		}
		if !want && find(res.Findings, "null-parent") >= 0 {
			t.Errorf("%s: %+v", version, res.Findings)
		}
	}
}
