package repair

import (
	"bytes"
	"os"
	"regexp"
	"testing"

	"github.com/hist-cli/hist/lint"
)

// TestHeaderWithoutOrdinal: where records without an ordinal are numbered, the session's header is numbered like any
// other, for it is one that lint asks a number of. What was whole comes back byte for byte.
func TestHeaderWithoutOrdinal(t *testing.T) {
	whole, err := os.ReadFile("../fixtures/codex/rules/ordinal-missing/ok.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	member := regexp.MustCompile(`"ordinal":\d+,`)
	lines := bytes.SplitAfter(whole, newline)
	without := func(n int) []byte {
		out := bytes.Join(lines[n:], nil)
		for i := n - 1; i >= 0; i-- {
			out = append(member.ReplaceAll(lines[i], nil), out...)
		}
		return out
	}
	for name, text := range map[string][]byte{"the header": without(1), "the header and what follows": without(3)} {
		if bytes.Equal(text, whole) {
			t.Fatal("the fixture's header has no ordinal")
		}
		for _, c := range []struct {
			opts   lint.Options
			choice Choice
		}{{lint.Options{For: map[string]string{"codex": "0.153.0"}}, Choice{}}, {lint.Options{}, Choice{Tidy: true}}} {
			got, _, err := repairAs(text, c.opts, c.choice)
			if err != nil {
				t.Errorf("%s, for %q: %v", name, c.opts.For["codex"], err)
				continue
			}
			if !bytes.Equal(got, whole) {
				t.Errorf("%s, for %q: the copy is\n%s", name, c.opts.For["codex"], got[:min(len(got), 2000)])
			}
		}
	}
}
