package claude_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/hist-cli/hist/lint"
)

// A dead line in front of the compaction with which what is sent begins costs nothing of it; behind that, it does.
func TestSummedUp(t *testing.T) {
	text, err := os.ReadFile("../../../fixtures/claude/2.1.332/compact/0a2f75a0-c959-4f4c-a509-f76b3242eb06.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	mark := 0
	for i, line := range lines {
		if bytes.Contains(line, []byte("compact_boundary")) {
			mark = i
		}
	}
	tried := map[lint.Impact]int{}
	for i, line := range lines {
		if !bytes.Contains(line, []byte(`"type":"assistant"`)) {
			continue
		}
		cut := bytes.Join([][]byte{bytes.Join(lines[:i], nil), line[:90], []byte("\n"), bytes.Join(lines[i+1:], nil)}, nil)
		res, err := lint.Session(t.Context(), bytes.NewReader(cut), lint.Options{Agent: "claude"})
		if err != nil {
			t.Fatal(err)
		}
		impact := lint.Shows
		for _, f := range res.Findings {
			if f.Rule.Name == "bad-json" {
				impact = f.Impact
			}
		}
		want := lint.Notes
		if i > mark {
			want = lint.Loses
		}
		if tried[want]++; impact != want {
			t.Errorf("line %d, with the compaction on line %d: %s, want %s: %v", i+1, mark+1, impact, want, res.Findings)
		}
	}
	if tried[lint.Notes] == 0 || tried[lint.Loses] == 0 {
		t.Errorf("only %v were tried", tried)
	}
}
