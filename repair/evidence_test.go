package repair

import (
	"bytes"
	"encoding/binary"
	"os"
	"testing"
	"unicode/utf16"

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

// TestEvidenceInUTF16: what a session in another encoding has lost is taken from its events as from those of one in UTF-8.
func TestEvidenceInUTF16(t *testing.T) {
	text, err := os.ReadFile("../fixtures/codex/rules/call-without-output/bad-command-execution.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	wide := []byte{0xff, 0xfe}
	for _, unit := range utf16.Encode([]rune(string(text))) {
		wide = binary.LittleEndian.AppendUint16(wide, unit)
	}
	want, _, err := repairText(text, "", Choice{})
	if err != nil {
		t.Fatal(err)
	}
	if got, rep, err := repairText(wide, "", Choice{}); err != nil || rep.Unrepaired() || !bytes.Equal(got, want) {
		t.Errorf("%v, %+v\n%s\nwant\n%s", err, rep, got, want)
	}
}
