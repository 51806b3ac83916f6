package clienttest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/walk"
	"github.com/hist-cli/hist/lint"
	"github.com/hist-cli/hist/repair"
)

var lives = flag.Int("lives", 2, "how many sessions TestHealthyLife has clients write, from -seed on")

// TestHealthyLife has clients write sessions as users do, with updates of the client between the turns, forks, compactions, hooks and
// whichever of its tools a model may call: no file that they leave is damaged.
func TestHealthyLife(t *testing.T) {
	if testing.Short() {
		t.Skip("runs real clients; left out by -short")
	}
	eachLife(t, live)
}

// eachLife has the clients of -versions write sessions, from -seed on.
func eachLife(t *testing.T, live func(t *testing.T, seed uint64, bins []Binary)) {
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
	l.furnish(t)
	noIDs := l.r.IntN(8) == 0
	at, id := l.r.IntN(len(bins)), ""
	var told []string
	for range 4 + l.r.IntN(6) {
		at = min(at+l.r.IntN(2), len(bins)-1)
		h.Bin, h.Input, h.Extra = bins[at], nil, nil
		h.Server.Behave(Manner{NoIDs: noIDs, Tokens: l.some(12, 190_000), Busy: l.some(8, 1)})
		args, answers := l.turn(t, id)
		res, err := h.run(t.Context(), answers, args...)
		if err != nil {
			t.Fatalf("%s %q: %v", h.Bin.Version, args, err)
		}
		if res.TimedOut {
			t.Logf("%s %q: a tool waits for something", h.Bin.Version, args)
			return // what it leaves when it is killed need not be whole
		}
		told = append(told, fmt.Sprintf("%s %q %s: exit code %d", h.Bin.Version, args, h.Input, res.ExitCode))
		if first := h.Server.Main(); first != nil {
			l.tools = first
		}
		if now, _, err := h.largest(); err == nil {
			id = now
		}
	}
	if id == "" {
		t.Fatalf("no session was written:\n%s", strings.Join(told, "\n"))
	}
	var lost []string
	if noIDs { // a resume does not find the outputs of parallel calls then
		lost = append(lost, "lost-branch")
	}
	l.check(t, told, lost...)
}

// some is n one time in so many, else 0.
func (l *life) some(of, n int) int {
	if l.r.IntN(of) == 0 {
		return n
	}
	return 0
}

// furnish lays files into the working directory: what a model may read, and a command of the user's own.
func (l *life) furnish(t *testing.T) {
	for name, text := range map[string]string{
		"a.txt": "alpha\nbeta\n", "p.png": string(tiny(t)), "sub/b.txt": "gamma\n",
		".claude/commands/own.md": "---\ndescription: does what the user wants\n---\nPlease do $ARGUMENTS, as always.\n",
	} {
		path := filepath.Join(l.Work, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}

// tiny is a picture of one pixel.
func tiny(t *testing.T) []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// check lints all files that the clients have left, and has them copied as a repair does: nothing is found but what the last
// arguments name, and nothing changed unless something was found. An empty file, and one of titles, is left beside a session by versions
// that resume it.
func (l *life) check(t *testing.T, told []string, but ...string) {
	t.Helper()
	files := 0
	err := walk.Walk(t.Context(), filepath.Join(l.Config(), "projects"), func(e walk.Entry) error {
		files++
		opts := lint.Options{Agent: "claude", Home: l.Config(), Name: lint.NameOf(e.Path, true)}
		res, err := lint.File(t.Context(), e.Path, opts)
		if err != nil {
			return err
		}
		found := false
		for _, f := range res.Findings {
			if slices.Contains(but, f.Rule.Name) {
				found = true
				continue
			}
			if f.Impact != finding.Notes || f.Rule.Name != "empty-file" && f.Rule.Name != "no-conversation" {
				t.Errorf("%s:%v: %s %s: %s\n%s", e.Path, f.Pos, f.Impact, f.Rule.Name, f.Message, strings.Join(told, "\n"))
			}
		}
		text, err := os.ReadFile(e.Path)
		if err != nil || len(text) == 0 || found {
			return err
		}
		var mended bytes.Buffer
		if _, err := repair.Do(t.Context(), repair.Job{Path: e.Path, Lint: opts, Mode: repair.ToStream, Stream: &mended}); err != nil {
			return err
		}
		if !bytes.Equal(mended.Bytes(), text) {
			t.Errorf("%s: the repair has changed it:\n%s", e.Path, strings.Join(told, "\n"))
		}
		return nil
	})
	if err != nil || files == 0 {
		t.Errorf("%d files: %v", files, err)
	}
	if t.Failed() && *keep != "" {
		if err := os.CopyFS(filepath.Join(*keep, filepath.Base(t.Name())), os.DirFS(l.Config())); err != nil {
			t.Error(err)
		}
	}
}

func (l *life) word() string { l.words++; return fmt.Sprintf("w%d", l.words) }

// turn is what the next run of the client is asked, and what the model answers.
func (l *life) turn(t *testing.T, id string) (args []string, answers [][]Block) {
	for range 1 + l.r.IntN(3) {
		answers = append(answers, l.calls())
	}
	answers = append(answers, []Block{say("Done: " + l.word())})
	args = []string{"-p", "please do " + l.word()}
	if l.r.IntN(6) > 0 { // else it does without
		args = append(args, "--allowedTools", "Bash,Read,Edit,Write,TodoWrite,Task,Agent")
	}
	if l.r.IntN(5) == 0 {
		args = append(args, "--model", []string{"opus", "sonnet", "haiku"}[l.r.IntN(3)])
	}
	if l.r.IntN(4) == 0 {
		l.Extra = append(l.Extra, "MAX_THINKING_TOKENS=8000")
	}
	if l.r.IntN(4) == 0 {
		args = append(args, "--settings", l.hooks(t))
	}
	switch l.r.IntN(12) {
	case 4:
		args = append(args, "--json-schema", `{"type":"object","properties":{"a":{"type":"string"}}}`)
		answers = [][]Block{{{Type: "tool_use", ID: "toolu_" + l.word(), Name: "StructuredOutput", Input: object{"a": l.word()}}}} // older clients ask until they get it
	case 0:
		args[1] = []string{"/cost", "/context", "/init", "/own " + l.word(), "/review", "/nothing-like-that", "/rename " + l.word()}[l.r.IntN(7)]
	case 1:
		args = append(args, "--permission-mode", "plan")
	case 2:
		if l.saysHowItEnds() {
			args = append(args, "--max-turns", "1")
		}
	case 3:
		if !strings.HasPrefix(l.Bin.Version, "1.") {
			l.converse(t, &args)
		}
	}
	if id == "" {
		return args, answers
	}
	switch l.r.IntN(8) {
	case 0:
		return append(args, "--continue"), answers
	case 1:
		if l.Bin.Version != "1.0.17" {
			args = append(args, "--fork-session")
		}
	case 2:
		return []string{"-p", "/compact", "--resume", id}, [][]Block{{say("A summary of it: " + l.word())}}
	}
	return append(args, "--resume", id), answers
}

// saysHowItEnds says whether the client notes that something of the user's has ended a turn: others leave what a killed one does.
func (l *life) saysHowItEnds() bool {
	return len(l.Bin.Version) >= len("2.1.100") && strings.HasPrefix(l.Bin.Version, "2.1.")
}

// converse has a front end speak with the client: prompts in JSON, of which the second comes while the first is worked on, and one with a
// picture and a document.
func (l *life) converse(t *testing.T, args *[]string) {
	(*args)[1] = "--input-format=stream-json"
	*args = append(*args, "--output-format=stream-json", "--verbose")
	say := func(blocks ...object) {
		raw, err := json.Marshal(object{"type": "user", "message": object{"role": "user", "content": blocks}})
		if err != nil {
			t.Fatal(err)
		}
		l.Input = append(append(l.Input, raw...), '\n')
	}
	encoded := func(data []byte) string { return base64.StdEncoding.EncodeToString(data) }
	say(object{"type": "text", "text": "first " + l.word()})
	say(object{"type": "text", "text": "then " + l.word()},
		object{"type": "image", "source": object{"type": "base64", "media_type": "image/png", "data": encoded(tiny(t))}},
		object{"type": "document", "source": object{"type": "base64", "media_type": "application/pdf", "data": encoded([]byte("%PDF-1.4\n%%EOF\n"))}})
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
		switch tools := gjson.GetBytes(l.tools, "tools").Array(); l.r.IntN(10) {
		case 0:
			call = Block{Type: "tool_use", Name: "Task", Input: object{"description": "look", "prompt": "look at " + l.word(), "subagent_type": "general-purpose"}}
		case 1:
			call = Block{Type: "tool_use", Name: "NoSuchTool", Input: object{"a": 1}}
		case 2, 3:
			if len(tools) > 0 {
				tool := tools[l.r.IntN(len(tools))]
				call = Block{Type: "tool_use", Name: tool.Get("name").Str, Input: l.fit(tool.Get("input_schema"))}
			}
		case 4:
			call.Input = object{"command": "seq 1 20000", "description": "print much"}
		case 5:
			call.Input = object{"command": "cd sub && pwd; false", "description": "go elsewhere"}
		case 6:
			call = Block{Type: "tool_use", Name: "Read", Input: object{"file_path": filepath.Join(l.Work, []string{"a.txt", "p.png", "nothing"}[l.r.IntN(3)])}}
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

// hooks writes settings whose hooks add to what the model is told, change what it asks for, or stop it.
func (l *life) hooks(t *testing.T) (path string) {
	answering := func(answer string) []object {
		return []object{{"hooks": []object{{"type": "command", "command": "echo '" + answer + "'"}}}}
	}
	told := func(event, more string) []object {
		return answering(`{"hookSpecificOutput":{"hookEventName":"` + event + `",` + more + `}}`)
	}
	hooks := object{
		"PreToolUse":       told("PreToolUse", `"permissionDecision":"allow","updatedInput":{"command":"echo changed"}`),
		"PostToolUse":      told("PostToolUse", `"additionalContext":"after the tool"`),
		"UserPromptSubmit": told("UserPromptSubmit", `"additionalContext":"beside the prompt"`),
		"SessionStart":     told("SessionStart", `"additionalContext":"at the start"`),
	}
	switch l.r.IntN(6) {
	case 0:
		hooks["PreToolUse"] = told("PreToolUse", `"permissionDecision":"deny","permissionDecisionReason":"not now"`)
	case 1:
		if l.saysHowItEnds() {
			hooks["PostToolUse"] = answering(`{"continue":false,"stopReason":"enough"}`)
		}
	case 2:
		hooks["UserPromptSubmit"] = answering(`{"decision":"block","reason":"not this"}`)
	case 3:
		hooks["PostToolUse"] = answering(`{"decision":"block","reason":"look at it again"}`)
	case 4:
		hooks["Stop"] = []object{{"hooks": []object{{"type": "command", "command": `test -e stopped || { touch stopped; echo '{"decision":"block","reason":"go on"}'; }`}}}}
	}
	raw, err := json.Marshal(object{"hooks": hooks})
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(l.Root, "hooks.json")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
