package clienttest

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/walk"
	"github.com/hist-cli/hist/lint"
)

var lives = flag.Int("lives", 2, "how many sessions TestHealthyLife has clients write, from -seed on")

// TestHealthyLife has clients write sessions as users do, with updates of the client between the turns, forks, compactions, hooks and
// whichever of its tools a model may call: no file that they leave is damaged.
func TestHealthyLife(t *testing.T) {
	if testing.Short() {
		t.Skip("runs real clients; left out by -short")
	}
	var bins []Binary
	for _, version := range strings.Split(*versions, ",") {
		bin, err := Find(version)
		if err != nil {
			t.Skip(err)
		}
		bins = append(bins, bin)
	}
	for n := range uint64(*lives) {
		t.Run(fmt.Sprint(*seed+n), func(t *testing.T) { live(t, *seed+n, bins) })
	}
}

// life is a session while clients write it.
type life struct {
	*Home
	r     *rand.Rand
	words int    // so many have been made up
	tools []byte // the newest request, which says what tools there are
}

func live(t *testing.T, seed uint64, bins []Binary) {
	h, err := NewHome(bins[0], t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	l := &life{Home: h, r: rand.New(rand.NewPCG(seed, 0))}
	at, id := l.r.IntN(len(bins)), ""
	var told []string
	for range 4 + l.r.IntN(4) {
		at = min(at+l.r.IntN(2), len(bins)-1)
		h.Bin = bins[at]
		args, answers := l.turn(t, id)
		res, err := h.run(t.Context(), answers, args...)
		if err != nil {
			t.Fatalf("%s %q: %v", h.Bin.Version, args, err)
		}
		if res.TimedOut {
			t.Logf("%s %q: a tool waits for something", h.Bin.Version, args)
			return // what it leaves when it is killed need not be whole
		}
		told = append(told, fmt.Sprintf("%s %q: exit code %d", h.Bin.Version, args, res.ExitCode))
		if first := h.Server.Main(); first != nil {
			l.tools = first
		}
		if id, _, err = h.largest(); err != nil {
			t.Fatal(err)
		}
	}
	l.check(t, told)
}

// check lints all files that the clients have left.
func (l *life) check(t *testing.T, told []string) {
	t.Helper()
	files := 0
	err := walk.Walk(t.Context(), l.Projects(), func(e walk.Entry) error {
		files++
		res, err := lint.File(t.Context(), e.Path, lint.Options{Agent: "claude", Home: l.Config(), Name: lint.NameOf(e.Path, true)})
		if err != nil {
			return err
		}
		for _, f := range res.Findings {
			if f.Impact != finding.Notes {
				t.Errorf("%s:%v: %s: %s\n%s", e.Path, f.Pos, f.Rule.Name, f.Message, strings.Join(told, "\n"))
			}
		}
		return nil
	})
	if err != nil || files == 0 {
		t.Errorf("%d files: %v", files, err)
	}
}

func (l *life) word() string { l.words++; return fmt.Sprintf("w%d", l.words) }

// turn is what the next run of the client is asked, and what the model answers.
func (l *life) turn(t *testing.T, id string) (args []string, answers [][]Block) {
	for range 1 + l.r.IntN(3) {
		answers = append(answers, l.calls())
	}
	answers = append(answers, []Block{say("Done: " + l.word())})
	args = []string{"-p", "please do " + l.word(), "--allowedTools", "Bash,Read,Edit,Write,TodoWrite,Task"}
	if id == "" {
		return args, answers
	}
	switch args = append(args, "--resume", id); l.r.IntN(8) {
	case 0:
		args = append(args[:len(args)-2], "--continue")
	case 1:
		if l.Bin.Version != "1.0.17" {
			args = append(args, "--fork-session")
		}
	case 2:
		return []string{"-p", "/compact", "--resume", id}, [][]Block{{say("A summary of it: " + l.word())}}
	case 3:
		args = append(args, "--settings", l.hooks(t))
	}
	return args, answers
}

// calls is what the model says and which tools it calls, some of them by names that no tool has.
func (l *life) calls() (answer []Block) {
	if l.r.IntN(3) == 0 {
		answer = append(answer, Block{Type: "thinking", Text: "I think of " + l.word()})
	}
	if l.r.IntN(2) == 0 {
		answer = append(answer, say("I go on with "+l.word()))
	}
	for range 1 + l.r.IntN(3) {
		call := bash("", "echo "+l.word())
		switch tools := gjson.GetBytes(l.tools, "tools").Array(); l.r.IntN(6) {
		case 0:
			call = Block{Type: "tool_use", Name: "Task", Input: object{"description": "look", "prompt": "look at " + l.word(), "subagent_type": "general-purpose"}}
		case 1:
			call = Block{Type: "tool_use", Name: "NoSuchTool", Input: object{"a": 1}}
		case 2, 3:
			if len(tools) > 0 {
				tool := tools[l.r.IntN(len(tools))]
				call = Block{Type: "tool_use", Name: tool.Get("name").Str, Input: l.fit(tool.Get("input_schema"))}
			}
		}
		call.ID = "toolu_" + l.word()
		answer = append(answer, call)
	}
	return answer
}

// fit is a value that a schema allows.
func (l *life) fit(schema gjson.Result) any {
	if all := schema.Get("enum").Array(); len(all) > 0 {
		return all[l.r.IntN(len(all))].Value()
	}
	if any := schema.Get("anyOf").Array(); len(any) > 0 {
		return l.fit(any[l.r.IntN(len(any))])
	}
	switch schema.Get("type").Str {
	case "object":
		out := object{}
		needed := schema.Get("required").Raw
		schema.Get("properties").ForEach(func(name, value gjson.Result) bool {
			if strings.Contains(needed, name.Raw) || l.r.IntN(3) == 0 {
				out[name.Str] = l.fit(value)
			}
			return true
		})
		return out
	case "array":
		return []any{l.fit(schema.Get("items"))}
	case "number", "integer":
		return 1 + l.r.IntN(5)
	case "boolean":
		return l.r.IntN(2) == 0
	}
	return l.word()
}

// hooks writes settings whose hooks add to what the model is told and change what it asks for.
func (l *life) hooks(t *testing.T) (path string) {
	told := func(event, more string) []object {
		said := `{"hookSpecificOutput":{"hookEventName":"` + event + `",` + more + `}}`
		return []object{{"hooks": []object{{"type": "command", "command": "echo '" + said + "'"}}}}
	}
	raw, err := json.Marshal(object{"hooks": object{
		"PreToolUse":       told("PreToolUse", `"permissionDecision":"allow","updatedInput":{"command":"echo changed"}`),
		"PostToolUse":      told("PostToolUse", `"additionalContext":"after the tool"`),
		"UserPromptSubmit": told("UserPromptSubmit", `"additionalContext":"beside the prompt"`),
	}})
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(l.Root, "hooks.json")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
