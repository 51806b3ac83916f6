package repair

import (
	"bytes"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/lint"
)

// TestDropThinking: thinking of a newer model behind what a repair changes is told, and goes where that is asked for. What stands in front of the
// change, and thinking of older models, stays.
func TestDropThinking(t *testing.T) {
	lines := linesOf(t, "../fixtures/claude/rules/refused/bad-bound-thinking.jsonl")
	lines = lines[:len(lines)-2]
	const firstThought, secondPrompt, secondThought = 1, 3, 4
	image := bytes.Replace(lines[secondPrompt], []byte(`"And how many paths?"`), []byte(`[{"type":"text","text":"And how many paths?"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGVsbG8="}}]`), 1)
	lines[secondPrompt] = image
	repaired := func(lines [][]byte, drop bool) ([]byte, *Report) {
		src, err := source.Stdin(bytes.NewReader(joined(lines)), "")
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		var out bytes.Buffer
		rep, err := Do(t.Context(), Job{Source: src, Lint: lint.Options{Agent: "claude"}, Mode: ToStream, Stream: &out, DropThinking: drop})
		if err != nil {
			t.Fatal(err)
		}
		return out.Bytes(), rep
	}
	out, rep := repaired(lines, false)
	if len(rep.Notes) != 1 || !strings.Contains(rep.Notes[0], "(line 5)") || !bytes.Contains(out, lines[secondThought]) {
		t.Errorf("%q\n%s", rep.Notes, out)
	}
	out, rep = repaired(lines, true)
	if len(rep.Notes) != 0 || bytes.Contains(out, []byte("Counting the paths.")) || !bytes.Contains(out, lines[firstThought]) || !bytes.Contains(out, []byte("Two paths.")) {
		t.Errorf("%q\n%s", rep.Notes, out)
	}
	for i := range lines {
		lines[i] = bytes.ReplaceAll(lines[i], []byte("claude-opus-5-5"), []byte("claude-opus-4-8"))
	}
	if out, rep := repaired(lines, true); len(rep.Notes) != 0 || !bytes.Contains(out, lines[secondThought]) {
		t.Errorf("%q\n%s", rep.Notes, out)
	}
}
