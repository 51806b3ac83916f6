package main

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/hist-cli/hist/testing/codex/clienttest"
)

// Element is one thing that was said: it is in the history of the model if an item of its kind holds its token.
type Element struct {
	Kind  string `json:"kind"` // prompt, answer, reasoning, call, output, note, search, summary
	Token string `json:"token"`
	Call  string `json:"call,omitempty"` // the call_id of a call, an output or a note; empty: any
	Turn  int    `json:"turn"`
	Tool  string `json:"tool,omitempty"`
}

// ran is an output that is said when the client sends it, or when its command has left its mark.
type ran struct {
	Element
	marked bool   // the command writes its token into the file of marks when it has printed it
	script string // the call of the script that prints it, if that may be answered "running"
}

// step is an item of a script, with what is said by sending it and what its tool will say.
type step struct {
	id   string // of the item, behind its prefix
	item clienttest.Item
	says Element
	will []ran
	// then gives the step that follows, where it depends on what the tool said.
	then func(input []sentItem) (step, bool)
}

// truth is what was said in one session, in its order.
type truth struct {
	mu       sync.Mutex
	said     []Element
	pending  []ran
	prompts  []Element
	byID     map[string]step // by what follows the first _ in the id of the item that is sent
	running  map[string]bool // the calls of scripts that were answered "running"
	marks    string          // the file of marks
	compacts int
}

func newTruth(marks string) *truth {
	return &truth{byID: map[string]step{}, running: map[string]bool{}, marks: marks}
}

// prompt announces a prompt: it is said when a request has it.
func (t *truth) prompt(e Element) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.prompts = append(t.prompts, e)
}

// script announces steps.
func (t *truth) script(steps ...step) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range steps {
		t.byID[s.id] = s
	}
}

// item is told of each item that was sent.
func (t *truth) item(raw json.RawMessage) {
	var v struct{ ID string }
	if json.Unmarshal(raw, &v) != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	_, token, ok := strings.Cut(v.ID, "_")
	s, known := t.byID[token]
	if !ok || !known {
		return
	}
	if s.says.Tool != waits { // the model goes on, and nobody will hear what else the script prints
		t.pending = slices.DeleteFunc(t.pending, func(p ran) bool { return t.running[p.script] })
	}
	t.say(s.says)
	t.pending = append(t.pending, s.will...)
}

// say adds an element, once.
func (t *truth) say(e Element) {
	for _, old := range t.said {
		if old.Kind == e.Kind && old.Token == e.Token && old.Call == e.Call {
			return
		}
	}
	t.said = append(t.said, e)
}

// request takes from a request what is said by it.
func (t *truth) request(input []sentItem) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.compacts > 0 {
		t.compacted(input)
	}
	t.prompts = t.settle(input, t.prompts)
	for _, it := range input {
		switch {
		case !strings.HasSuffix(it.Type, "_output"):
		case runningCell.MatchString(it.Text):
			t.running[it.Call] = true
		case strings.Contains(it.Text, interrupted): // that is what the model is told, whatever was printed
			t.pending = slices.DeleteFunc(t.pending, func(p ran) bool { return p.Call == it.Call })
		}
	}
	kept := t.pending[:0]
	for _, p := range t.pending {
		i := slices.IndexFunc(input, func(it sentItem) bool { return it.is(p.Element) })
		if i < 0 {
			kept = append(kept, p)
			continue
		}
		if p.Call == "" {
			p.Call = input[i].Call
		}
		t.say(p.Element)
	}
	t.pending = kept
}

// interrupted begins the output of a call that a user has interrupted.
const interrupted = `"output":"aborted by user after `

func (t *truth) settle(input []sentItem, waiting []Element) (rest []Element) {
	for _, p := range waiting {
		if found(input, p) > 0 {
			t.say(p)
		} else {
			rest = append(rest, p)
		}
	}
	return rest
}

// compacted forgets what a compaction has taken out of the history, once a request shows that it did.
func (t *truth) compacted(input []sentItem) {
	summary := Element{Kind: "summary", Token: clienttest.Summary}
	if found(input, summary) == 0 {
		return
	}
	t.compacts = 0
	var kept []Element
	for _, e := range t.said {
		if found(input, e) > 0 && e.Kind != summary.Kind {
			kept = append(kept, e)
		}
	}
	t.said = append([]Element{summary}, kept...)
	t.pending = nil
}

// end settles what commands said that ran to their end without anybody hearing of it, and gives the truth.
func (t *truth) end() []Element {
	marks, err := os.ReadFile(t.marks)
	if err != nil {
		marks = nil // no command ran
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range t.pending {
		if p.marked && bytes.Contains(marks, []byte(p.Token+"\n")) {
			t.say(p.Element)
		}
	}
	t.pending = nil
	return append([]Element(nil), t.said...)
}

// sentItem is an item of a request.
type sentItem struct{ Type, Role, Call, Text string }

// items parses the input of a request, its order kept.
func items(body []byte) []sentItem {
	var out []sentItem
	for _, raw := range clienttest.Input(body) {
		var v struct {
			Type, Role string
			CallID     string `json:"call_id"`
		}
		if json.Unmarshal(raw, &v) == nil {
			out = append(out, sentItem{v.Type, v.Role, v.CallID, string(raw)})
		}
	}
	return out
}

// is says whether the item is the element.
func (it sentItem) is(e Element) bool {
	if !strings.Contains(it.Text, e.Token) {
		return false
	}
	switch e.Kind {
	case "prompt", "summary":
		return it.Type == "message" && it.Role == "user" || strings.Contains(it.Type, "compaction")
	case "answer":
		return it.Type == "message" && it.Role == "assistant"
	case "call":
		return strings.HasSuffix(it.Type, "_call") && e.fits(it.Call)
	case "output", "note":
		return strings.HasSuffix(it.Type, "_output") && e.fits(it.Call)
	case "search":
		return it.Type == "web_search_call"
	case "reasoning": // or the summary of what was lost, told as such
		return it.Type == "reasoning" || it.Type == "message" && it.Role == "developer" && strings.Contains(it.Text, "[hist: your reasoning")
	}
	return it.Type == e.Kind
}

// fits says whether the element may stand under a call_id. What was restored from another place than the session may
// have come under another one, and is the same to the model; a token that says nothing by itself may not.
func (e Element) fits(call string) bool {
	return e.Call == "" || e.Call == call || !e.unlike()
}

// unlike says whether a token says nothing by itself: other calls have the same output.
func (e Element) unlike() bool { return e.Call != "" && !strings.Contains(e.Token, "-k") }

// standsIn says whether a file holds the element: its token, and for one that says nothing by itself its call_id shortly in front.
func (e Element) standsIn(data []byte) bool {
	token := []byte(e.Token)
	if !e.unlike() || e.Kind == "call" {
		return bytes.Contains(data, token)
	}
	for at := 0; ; at++ {
		next := bytes.Index(data[at:], token)
		if next < 0 {
			return false
		}
		at += next
		if bytes.Contains(data[max(0, at-128):at], []byte(e.Call+`"`)) {
			return true
		}
	}
}

// found counts the items that are the element.
func found(input []sentItem, e Element) (n int) {
	for _, it := range input {
		if it.is(e) {
			n++
		}
	}
	return n
}

// standing says which elements stand in any file below a directory, whatever the file is and however deep it lies, except in those
// below the directories without.
func standing(dir string, elements []Element, without ...string) ([]bool, error) {
	stands := make([]bool, len(elements))
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case slices.Contains(without, path):
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		case !d.Type().IsRegular():
			return nil
		}
		data, err := contents(path)
		if err != nil {
			return nil //nolint:nilerr // what nobody can decompress tells nothing
		}
		for i, e := range elements {
			stands[i] = stands[i] || e.standsIn(data)
		}
		return nil
	})
	return stands, err
}
