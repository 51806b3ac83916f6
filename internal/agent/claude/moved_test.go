package claude_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/lint"
)

// recordedLines are the lines of the only recording of its name.
func recordedLines(t *testing.T, name string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("../../../fixtures/claude", filepath.FromSlash(name), "*.jsonl"))
	if err != nil || len(paths) != 1 {
		t.Fatalf("%s: %v, %v", name, paths, err)
	}
	text, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	return slices.Collect(strings.Lines(string(text)))
}

// rulesOf are the names of the rules that find something in a session.
func rulesOf(t *testing.T, lines []string) (names []string) {
	t.Helper()
	res, err := lint.Session(t.Context(), strings.NewReader(strings.Join(lines, "")), lint.Options{Agent: "claude"})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range res.Findings {
		names = append(names, f.Rule.Name)
	}
	return names
}

// lineOf is the number of the first line that holds some words, from a line on.
func lineOf(lines []string, from int, words string) int {
	return from + slices.IndexFunc(lines[from:], func(l string) bool { return strings.Contains(l, words) })
}

// TestOutputLast: where no leaf is noted the newest client begins at the last record of the file. If that is an output beside
// others, it sends nothing of what was said behind those; if more was said behind that output itself, it sends all (measured with a session
// of 2.1.100).
func TestOutputLast(t *testing.T) {
	lines := recordedLines(t, "2.1.100/resumed")
	if found := rulesOf(t, lines); len(found) > 0 {
		t.Fatal(found)
	}
	i := lineOf(lines, 0, `"type":"tool_result"`)
	if !gjson.Get(lines[i+1], "toolUseResult").Exists() {
		t.Fatal("the first output has no other beside it")
	}
	for moved, lost := range map[int]bool{i: true, i + 1: false} {
		if found := rulesOf(t, append(slices.Delete(slices.Clone(lines), moved, moved+1), lines[moved])); slices.Contains(found, "wrong-leaf") != lost {
			t.Errorf("line %d as the last: %v", moved+1, found)
		}
	}
	last := append(slices.Delete(slices.Clone(lines), i, i+1), lines[i])
	res, err := lint.Session(t.Context(), strings.NewReader(strings.Join(last, "")), lint.Options{Agent: "claude"})
	if err != nil || res.Summary.Seen >= res.Summary.Items {
		t.Errorf("%d of %d items are seen: %v", res.Summary.Seen, res.Summary.Items, err)
	}
}

// TestThoughtBesideMoved: thinking is what was sent also where another part of its answer stands twice, or elsewhere.
func TestThoughtBesideMoved(t *testing.T) {
	lines := recordedLines(t, "2.1.330/thinking")
	i := lineOf(lines, 0, `"type":"thinking"`)
	j := lineOf(lines, i, `"type":"tool_use"`)
	call := lines[j]
	if gjson.Get(call, "message.id").String() != gjson.Get(lines[i], "message.id").String() {
		t.Fatal("the call is of another answer")
	}
	without := slices.Delete(slices.Clone(lines), j, j+1)
	for name, session := range map[string][]string{
		"twice":    slices.Insert(slices.Clone(lines), j, call),
		"in front": slices.Insert(slices.Clone(without), i, call),
		"between":  slices.Insert(slices.Clone(without), i+1, call),
	} {
		if found := rulesOf(t, session); slices.Contains(found, "bad-thinking") {
			t.Errorf("%s: %v", name, found)
		}
	}
	other := slices.Clone(lines)
	other[i] = strings.Replace(lines[i], `"signature":"`, `"signature":"x`, 1)
	if found := rulesOf(t, other); !slices.Contains(found, "bad-thinking") {
		t.Errorf("another signature: %v", found)
	}
}

// TestTornOutputsID: an output whose id is torn off does not take the one that a record of a later turn waits for.
func TestTornOutputsID(t *testing.T) {
	lines := recordedLines(t, "2.1.100/resumed")
	i := lineOf(lines, 0, `"type":"tool_result"`)
	if strings.Contains(strings.Join(lines, ""), `"parentUuid":"`+gjson.Get(lines[i], "uuid").String()+`"`) {
		i++
	}
	lines[i] = lines[i][:strings.Index(lines[i], `"uuid"`)] + "\n"
	last := lineOf(lines, lineOf(lines, i, "and now the third"), `"type":"assistant"`)
	id := gjson.Get(lines[last], "uuid").String()
	lines = slices.Delete(lines, last, last+1)
	res, err := lint.Session(t.Context(), strings.NewReader(strings.Join(lines, "")), lint.Options{Agent: "claude"})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range res.Findings {
		for _, e := range f.Edits {
			for _, cut := range e.Cuts {
				if e.At.Line == int64(i+1) && strings.Contains(string(cut.New), id) {
					t.Errorf("the output is given the id of the lost record: %s", cut.New)
				}
			}
		}
	}
}

// TestThoughtBesideRebuilt: a call that a repair has rebuilt without all of its input makes no thinking of its answer untrue.
func TestThoughtBesideRebuilt(t *testing.T) {
	lines := recordedLines(t, "2.1.330/thinking")
	i := lineOf(lines, 0, `"type":"thinking"`)
	j := lineOf(lines, i, `"type":"tool_use"`)
	call := lines[j]
	lines[j] = `{"type":"assistant","uuid":` + gjson.Get(call, "uuid").Raw + `,"parentUuid":` + gjson.Get(call, "parentUuid").Raw +
		`,"message":{"id":` + gjson.Get(call, "message.id").Raw + `,"role":"assistant","model":` + gjson.Get(call, "message.model").Raw +
		`,"content":[{"type":"tool_use","id":` + gjson.Get(call, "message.content.0.id").Raw + `,"name":"Bash","input":{}}]}}` + "\n"
	if found := rulesOf(t, lines); slices.Contains(found, "bad-thinking") {
		t.Error(found)
	}
}

// TestThoughtBesideRenamed: thinking is what was sent also where the client has given a call of its answer another name, as
// 2.1.330 does with Task: it keeps such an answer as it sent it.
func TestThoughtBesideRenamed(t *testing.T) {
	lines := recordedLines(t, "2.1.330/thinking")
	i := lineOf(lines, 0, `"type":"thinking"`)
	j := lineOf(lines, i, `"type":"tool_use"`)
	id := gjson.Get(lines[i], "message.id").Raw
	var sent []string
	for _, line := range lines {
		if gjson.Get(line, "message.id").Raw == id {
			gjson.Get(line, "message.content").ForEach(func(_, block gjson.Result) bool {
				sent = append(sent, block.Raw)
				return true
			})
		}
	}
	lines[j] = strings.Replace(lines[j], `"name":"Bash"`, `"name":"Task"`, 1)
	if found := rulesOf(t, lines); !slices.Contains(found, "bad-thinking") {
		t.Fatalf("not kept as it was sent: %v", found)
	}
	kept := `{"type":"api-request-blob","hash":"00","message":{"role":"assistant","content":[` + strings.Join(sent, ",") + "]}}\n"
	lines = slices.Insert(lines, lineOf(lines, j, `"type":"api-request"`), kept)
	if found := rulesOf(t, lines); slices.Contains(found, "bad-thinking") {
		t.Errorf("kept as it was sent: %v", found)
	}
	lines[i] = strings.Replace(lines[i], `"signature":"`, `"signature":"x`, 1)
	if found := rulesOf(t, lines); !slices.Contains(found, "bad-thinking") {
		t.Errorf("another signature than the one that was sent: %v", found)
	}
}
