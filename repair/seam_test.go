package repair

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/lint"
)

// TestSeamInEvent: an answer's event that goes over, inside its text, into a block that was written twice is no further answer.
func TestSeamInEvent(t *testing.T) {
	paths, err := filepath.Glob("../fixtures/codex/0.114.0/clean/rollout-*.jsonl")
	if err != nil || len(paths) != 1 {
		t.Fatal(paths, err)
	}
	lines := linesOf(t, paths[0])
	words := func(end string) string { return `"` + strings.Repeat("These are long words. ", 10) + end + `"` }
	prompt, event := -1, -1
	for i, line := range lines {
		switch payload := gjson.GetBytes(line, "payload"); {
		case payload.Get("type").String() == "message" && payload.Get("role").String() == "user":
			prompt = i
		case payload.Get("type").String() == "agent_message":
			event = i
		}
		if event >= 0 {
			break
		}
	}
	whole := slices.Clone(lines)
	whole[event] = set(lines[event], "payload.message", words("The end."))
	whole[event+1] = set(lines[event+1], "payload.content.0.text", words("The end."))
	seam := set(lines[event], "payload.message", words("nstructions to follow"))
	damaged := slices.Concat(whole[:event], [][]byte{seam}, whole[prompt:])
	out, _, err := repairAs(joined(damaged), lint.Options{Mend: Choice{}.Allows}, Choice{})
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(out, []byte(`"output_text","text":"These are long words.`)); n != 1 {
		t.Errorf("the answer stands there %d times", n)
	}
}

// TestThoughtWithoutPrompt: a turn that begins with what was thought has lost its prompt, as one that begins with an answer.
func TestThoughtWithoutPrompt(t *testing.T) {
	paths, err := filepath.Glob("../fixtures/codex/0.114.0/clean/rollout-*.jsonl")
	if err != nil || len(paths) != 1 {
		t.Fatal(paths, err)
	}
	lines := linesOf(t, paths[0])
	const prompt, thought = 5, 9
	if gjson.GetBytes(lines[thought], "payload.type").String() != "reasoning" {
		t.Fatalf("%s", lines[thought])
	}
	res, err := lint.Session(t.Context(), bytes.NewReader(joined(slices.Delete(lines, prompt, thought))), lint.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Findings) != 1 || res.Findings[0].Rule.Name != "lost-message" {
		t.Errorf("%+v", res.Findings)
	}
}

// TestTwoTypes: the end of a turn that has a second type, which the client takes, shows no answer: that one has no words.
func TestTwoTypes(t *testing.T) {
	paths, err := filepath.Glob("../fixtures/codex/0.114.0/clean/rollout-*.jsonl")
	if err != nil || len(paths) != 1 {
		t.Fatal(paths, err)
	}
	lines := linesOf(t, paths[0])
	const end = 27
	lines[end] = bytes.Replace(lines[end], []byte(`"last_agent_message"`), []byte(`"type":"agent_message","last_agent_message"`), 1)
	if !bytes.Contains(lines[end], []byte(`"agent_message"`)) {
		t.Fatalf("%s", lines[end])
	}
	if _, _, err := repairAs(joined(lines), lint.Options{Mend: Choice{}.Allows}, Choice{}); err != nil {
		t.Error(err)
	}
}
