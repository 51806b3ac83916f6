package lint_test

import (
	"os"
	"strings"
	"testing"

	"github.com/hist-cli/hist/lint"
)

// A model may write anything into a string: text that begins many values and ends none of them is looked at without a stack of
// their number.
func TestDeepStrings(t *testing.T) {
	deep := strings.Repeat("[", 20<<20)
	for path, words := range map[string]string{
		"../fixtures/claude/rules/bad-input/bad.jsonl":     `"input":"`,
		"../fixtures/codex/rules/bad-compaction/bad.jsonl": `"arguments":"`,
	} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		before, after, found := strings.Cut(string(text), words)
		if !found {
			t.Fatalf("%s has no %s", path, words)
		}
		res, err := lint.Session(t.Context(), strings.NewReader(before+words+deep+after), lint.Options{})
		if err != nil || len(res.Findings) == 0 {
			t.Errorf("%s: %v, %v", path, res, err)
		}
	}
}
