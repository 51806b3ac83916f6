package clienttest

import (
	"encoding/json"
	"slices"
	"strings"
)

// Comparison says how much of a clean history the client sent.
type Comparison struct {
	Clean     int      // items of the clean history
	Sent      int      // of these, sent with the same content
	Changed   int      // of these, calls and outputs sent under their call_id with other content
	Aborted   int      // of these, outputs that the client replaced by "aborted"
	Missing   []string // those neither sent nor changed, and the aborted ones
	Extra     []string // items sent that the clean history does not have
	OrderKept bool     // the sent and changed ones came in the clean order
}

// aborted is what the client puts in the place of an output it does not find.
const aborted = "aborted"

// Compare holds the input of a resumed session against that of its undamaged
// original. Items count as the same if all but their ids and metadata is the
// same; the new prompt at the end, and the context messages that the client
// puts in front of it, are left out on both sides.
func Compare(clean, got []json.RawMessage) Comparison {
	want, have := history(clean), history(got)
	c := Comparison{Clean: len(want), OrderKept: true}
	used := make([]bool, len(have))
	at := make([]int, len(want)) // where each clean item was sent, or -1
	match := func(i int, same func(a, b item) bool) {
		at[i] = -1
		for j := range have {
			if !used[j] && same(want[i], have[j]) {
				used[j], at[i] = true, j
				return
			}
		}
	}
	for i := range want {
		match(i, func(a, b item) bool { return a.key == b.key })
		if at[i] >= 0 {
			c.Sent++
		}
	}
	for i, w := range want {
		if at[i] >= 0 {
			continue
		}
		if w.callID != "" {
			match(i, func(a, b item) bool { return a.kind == b.kind && a.callID == b.callID })
		}
		switch {
		case at[i] < 0:
			c.Missing = append(c.Missing, w.String())
		case have[at[i]].output == aborted:
			at[i] = -1 // its place is the client's choice, and says nothing
			c.Aborted++
			c.Missing = append(c.Missing, w.String()+" (sent as aborted)")
		default:
			c.Changed++
		}
	}
	last := -1
	for _, j := range at {
		if j < 0 {
			continue
		}
		if j < last {
			c.OrderKept = false
		}
		last = max(last, j)
	}
	for j, h := range have {
		if !used[j] {
			if h.output == aborted {
				c.Aborted++
			}
			c.Extra = append(c.Extra, h.String())
		}
	}
	return c
}

// item is an input item without what differs from one resume to the next.
type item struct {
	kind, role, callID, text string
	output                   string // the text of an output
	key                      string // all of its content
}

func (it item) String() string {
	parts := []string{it.kind}
	for _, p := range []string{it.role, it.callID} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	if it.callID == "" && it.text != "" {
		parts = append(parts, quote(short(it.text)))
	}
	return strings.Join(parts, " ")
}

func short(s string) string {
	const most = 40
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// history parses the items and leaves out what the resume itself added.
func history(raw []json.RawMessage) []item {
	items := make([]item, len(raw))
	for i, r := range raw {
		items[i] = parse(r)
	}
	end := len(items)
	if end > 0 && items[end-1].kind == "message" && items[end-1].role == "user" {
		end--
		for end > 0 && items[end-1].isContext() {
			end--
		}
	}
	return items[:end]
}

func parse(raw json.RawMessage) item {
	var v map[string]any
	if json.Unmarshal(raw, &v) != nil {
		return item{kind: "unreadable", key: string(raw)}
	}
	str := func(k string) string { s, _ := v[k].(string); return s }
	it := item{kind: str("type"), role: str("role"), callID: str("call_id")}
	it.text = texts(v["content"])
	if it.text == "" {
		it.text = texts(v["summary"])
	}
	if out, ok := v["output"]; ok {
		it.output = texts(out)
		if list, ok := out.([]any); ok && len(list) == 1 && it.output != "" {
			v["output"] = it.output // one text, written the long way
		}
	}
	for _, k := range []string{"id", "metadata", "status", "internal_chat_message_metadata_passthrough"} {
		delete(v, k)
	}
	key, err := json.Marshal(v)
	if err != nil {
		panic(err) // it was JSON a moment ago
	}
	it.key = string(key)
	return it
}

// texts joins the text of a string, or of a list of content parts.
func texts(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		var parts []string
		for _, p := range v {
			if m, ok := p.(map[string]any); ok {
				if s, ok := m["text"].(string); ok {
					parts = append(parts, s)
				}
			}
		}
		return strings.Join(parts, "\n")
	}
	return ""
}

// isContext says whether this is a message that the client writes by itself
// to tell the model where it is.
func (it item) isContext() bool {
	if it.kind != "message" {
		return false
	}
	if it.role == "developer" || it.role == "system" {
		return !strings.HasPrefix(it.text, "[hist: ") // what a repair says is a part of the history, wherever it stands
	}
	return it.role == "user" && slices.ContainsFunc(
		[]string{"<environment_context>", "<user_instructions>", "<permissions", "<skills", "# AGENTS.md instructions"},
		func(start string) bool { return strings.HasPrefix(it.text, start) })
}
