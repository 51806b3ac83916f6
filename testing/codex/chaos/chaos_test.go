package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/hist-cli/hist/testing/codex/clienttest"
)

func TestMain(m *testing.M) {
	clienttest.MCPMain()
	os.Exit(m.Run())
}

func input(items ...string) []sentItem {
	return itemsOf([]byte(`{"input":[` + strings.Join(items, ",") + `]}`))
}

var itemsOf = items

const (
	promptItem  = `{"type":"message","role":"user","content":[{"type":"input_text","text":"Please do step 1 [[p-k1z]]"}]}`
	callItem    = `{"type":"function_call","name":"exec_command","arguments":"{\"cmd\": \"printf 'OUT%s' -k2z # run-k2z\"}","call_id":"call_k2z"}`
	runningItem = `{"type":"function_call_output","call_id":"call_k2z","output":"Script running with cell ID 1\nOutput:\n"}`
	outputItem  = `{"type":"function_call_output","call_id":"call_k2z","output":"OUT-k2z"}`
)

func script() (prompt Element, call step) {
	prompt = Element{Kind: "prompt", Token: "[[p-k1z]]"}
	call = step{
		id: "k2z", says: Element{Kind: "call", Token: "run-k2z", Call: "call_k2z"},
		will: []ran{{Element: Element{Kind: "output", Token: "OUT-k2z", Call: "call_k2z"}, marked: true, script: "call_k2z"}},
	}
	return prompt, call
}

// A call is said when it has been sent, a prompt and an output when they arrive, an output too when its command has
// left its mark; what was only written down to be said is not.
func TestTruth(t *testing.T) {
	for name, c := range map[string]struct {
		marks string
		play  func(tr *truth)
		want  []string
	}{
		"nothing arrived": {"", func(*truth) {}, nil},
		"prompt and call": {"", func(tr *truth) {
			tr.request(input(promptItem))
			tr.item(json.RawMessage(`{"id":"fc_k2z"}`))
		}, []string{"prompt", "call"}},
		"output arrived": {"", func(tr *truth) {
			tr.item(json.RawMessage(`{"id":"fc_k2z"}`))
			tr.request(input(promptItem, callItem, outputItem))
			tr.request(input(promptItem, callItem, outputItem))
		}, []string{"call", "prompt", "output"}},
		"the client died, the command had ended": {"OUT-k2z\n", func(tr *truth) {
			tr.item(json.RawMessage(`{"id":"fc_k2z"}`))
		}, []string{"call", "output"}},
		"the model went on while the script ran": {"OUT-k2z\n", func(tr *truth) {
			tr.script(step{id: "k3z", says: Element{Kind: "answer", Token: "MSG-k3z"}})
			tr.item(json.RawMessage(`{"id":"fc_k2z"}`))
			tr.request(input(promptItem, callItem, runningItem))
			tr.item(json.RawMessage(`{"id":"msg_k3z"}`))
		}, []string{"call", "prompt", "answer"}},
		"the client died while the script ran": {"OUT-k2z\n", func(tr *truth) {
			tr.item(json.RawMessage(`{"id":"fc_k2z"}`))
			tr.request(input(promptItem, callItem, runningItem))
		}, []string{"call", "prompt", "output"}},
		"the user interrupted it, and the command ended": {"OUT-k2z\n", func(tr *truth) {
			tr.item(json.RawMessage(`{"id":"fc_k2z"}`))
			tr.request(input(promptItem, callItem, `{"type":"function_call_output","call_id":"call_k2z","output":"aborted by user after 0.1s"}`))
		}, []string{"call", "prompt"}},
		"the command never ran": {"OUT-k2z\n", func(*truth) {}, nil},
		"compacted": {"", func(tr *truth) {
			tr.item(json.RawMessage(`{"id":"fc_k2z"}`))
			tr.compacts++
			tr.request(input(promptItem, `{"type":"message","role":"user","content":[{"type":"input_text","text":"`+clienttest.Summary+`"}]}`))
		}, []string{"summary", "prompt"}},
	} {
		marks := filepath.Join(t.TempDir(), "marks")
		if err := os.WriteFile(marks, []byte(c.marks), 0o600); err != nil {
			t.Fatal(err)
		}
		tr := newTruth(marks)
		prompt, call := script()
		tr.prompt(prompt)
		tr.script(call)
		c.play(tr)
		var got []string
		for _, e := range tr.end() {
			got = append(got, e.Kind)
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// A stand-in for an output is not the output, and a call's own text is not what it printed.
func TestFound(t *testing.T) {
	_, call := script()
	out := call.will[0].Element
	for name, c := range map[string]struct {
		input []sentItem
		want  int
	}{
		"said":      {input(promptItem, callItem, outputItem), 1},
		"twice":     {input(callItem, outputItem, outputItem), 2},
		"aborted":   {input(callItem, `{"type":"function_call_output","call_id":"call_k2z","output":"aborted"}`), 0},
		"elsewhere": {input(`{"type":"custom_tool_call_output","call_id":"call_x","output":"OUT-k2z"}`), 1},
	} {
		if n := found(c.input, out); n != c.want {
			t.Errorf("%s: found %d times, want %d", name, n, c.want)
		}
	}
	if found(input(callItem), call.says) != 1 || found(input(outputItem), call.says) != 0 {
		t.Error("a call is found by its own item only")
	}
}

// What was said stands in a home wherever a file of it holds it, however deep that lies.
func TestStanding(t *testing.T) {
	dir := t.TempDir()
	for path, text := range map[string]string{"codex/a/b/c/d/e.log": "OUT-k1z", "codex/state.sqlite-wal": "OUT-k2z", "demo/marks": "OUT-k3z", "demo/left.txt": "OUT-k4z"} {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("words\x00"+text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	plan := []byte(`{"call_id":"call_k6z","output":"Plan updated"}{"call_id":"call_k7z","output":"aborted"}`)
	for call, want := range map[string]bool{"call_k6z": true, "call_k7z": false, "call_k": false} {
		if e := (Element{Kind: "output", Token: "Plan updated", Call: call}); e.standsIn(plan) != want {
			t.Errorf("the output of %s stands there: %v", call, !want)
		}
	}
	said := []Element{{Token: "OUT-k1z"}, {Token: "OUT-k2z"}, {Token: "OUT-k3z"}, {Token: "OUT-k4z"}, {Token: "OUT-k5z"}}
	for _, c := range []struct {
		below   string
		without []string
		want    []bool
	}{
		{filepath.Join(dir, "codex"), nil, []bool{true, true, false, false, false}},
		{dir, []string{filepath.Join(dir, "codex"), filepath.Join(dir, "demo", "marks")}, []bool{false, false, false, true, false}},
	} {
		if got, err := standing(c.below, said, c.without...); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, %v", c.below, got, err)
		}
	}
}

// The same seed makes the same plan and the same damage.
func TestSeeds(t *testing.T) {
	versions := []string{"0.79.0", "0.150.0", "0.169.0"}
	text := bytes.Repeat([]byte("{\"a line\":1}\n"), 2000)
	var session []byte
	for i := range 60 {
		kind := []string{`"type":"reasoning"`, `"type":"x_output"`, `"type":"task_started"`, `"role":"user"`, `"role":"assistant"`}[i%5]
		session = fmt.Appendf(session, `{"timestamp":"2026-11-25T15:49:%02d.000Z","type":"response_item","payload":{%s,"text":"a\nb %s"}}`+"\n", i, kind, strings.Repeat("ü", i*9))
	}
	same := map[string]int{} // how often a damage has left the session as it was, by its name
	for seed := range uint64(50) {
		if a, b := somePlan(seed, versions, true), somePlan(seed, versions, true); !reflect.DeepEqual(a, b) {
			t.Fatalf("seed %d: %+v and %+v", seed, a, b)
		}
		for i := range damages {
			a, what := spoil(rand.New(rand.NewPCG(seed, 3)), text, i)
			b, _ := spoil(rand.New(rand.NewPCG(seed, 3)), text, i)
			if !bytes.Equal(a, b) || bytes.Equal(a, text) {
				t.Errorf("seed %d: %s", seed, what)
			}
		}
		for i := range foreign {
			b := bench{foreign: foreign}
			first, what := b.spoil(rand.New(rand.NewPCG(seed, 3)), session, i)
			second, _ := b.spoil(rand.New(rand.NewPCG(seed, 3)), session, i)
			if !bytes.Equal(first, second) {
				t.Errorf("seed %d: %s", seed, what)
			}
			if bytes.Equal(first, session) {
				same[strings.Fields(what)[0]]++
			}
		}
	}
	for name, n := range same {
		if n > 40 {
			t.Errorf("%s leaves %d of 50 sessions as they were", name, n)
		}
	}
}

// Of a home's databases one is damaged, the same one for each seed.
func TestSpoilDatabase(t *testing.T) {
	told := map[string]bool{}
	for seed := range uint64(20) {
		var what [2]string
		for i := range what {
			dir := t.TempDir()
			for _, name := range []string{"state_5.sqlite", "logs_2.sqlite", "logs_2.sqlite-wal"} {
				if err := os.WriteFile(filepath.Join(dir, name), bytes.Repeat([]byte("x"), 9000), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			var err error
			if what[i], err = spoilDatabase(rand.New(rand.NewPCG(seed, 3)), dir); err != nil {
				t.Fatal(err)
			}
		}
		if what[0] != what[1] || !strings.HasPrefix(what[0], "database ") {
			t.Errorf("seed %d: %q and %q", seed, what[0], what[1])
		}
		told[strings.Fields(what[0])[2]] = true
	}
	if len(told) < 4 {
		t.Errorf("only %v", told)
	}
}

func TestOutcome(t *testing.T) {
	o := outcome{Before: "resumed", After: "resumed", Said: []told{
		{Element: Element{Kind: "prompt", Token: "kept"}, Before: 1, After: 1},
		{Element: Element{Kind: "answer", Token: "won"}, Stands: true, After: 1},
		{Element: Element{Kind: "output", Token: "short"}, Stands: true},
		{Element: Element{Kind: "output", Token: "nowhere"}},
	}}
	if got := fmt.Sprint(o.shares()); got != "4 3 1 2" || len(o.worse()) > 0 || !o.unnamed() {
		t.Errorf("%s, %v", got, o.worse())
	}
	o.Findings = findings(`{"sessions":[{"findings":[{"rule":"open-turn","impact":"loses"}]}]}`)
	if o.unnamed() {
		t.Error("there is a finding")
	}
	o.Said = append(o.Said, told{Element: Element{Token: "lost"}, Before: 1}, told{Element: Element{Token: "doubled"}, Before: 1, After: 2})
	if len(o.worse()) != 2 {
		t.Errorf("%v", o.worse())
	}
}
