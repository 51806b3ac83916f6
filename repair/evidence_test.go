package repair

import (
	"bytes"
	"os"
	"testing"

	"github.com/hist-cli/hist/lint"
)

// TestEvidenceThatIsNone: an event that has no output in it after all does not keep the session from being repaired.
func TestEvidenceThatIsNone(t *testing.T) {
	text, err := os.ReadFile("../fixtures/codex/rules/call-without-output/bad-command-execution.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	odd := bytes.Replace(text, []byte(`"aggregated_output":`), []byte(`"aggregated":`), 1)
	if bytes.Equal(odd, text) {
		t.Fatal("another fixture")
	}
	repaired, rep, err := repairAs(odd, lint.Options{}, Choice{})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range rep.Edits {
		if e.Rule == "call-without-output" && e.Fix == "stand-in" && e.From == "" && rep.History.After == rep.History.Items-1 {
			return
		}
	}
	t.Errorf("%+v, %+v\n%s", rep.Edits, rep.History, repaired)
}
