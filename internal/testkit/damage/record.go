package damage

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// record damages one record.
func (b *breaker) record(i int) {
	l := b.lines[i]
	name := func(what string) string { return what + "-" + strconv.Itoa(i) + "-" + l.kind }
	if !l.item && i%4 != 0 {
		return
	}
	first := len(b.cases)
	half := l.raw[:len(l.raw)/2]
	rule := "bad-json"
	if i == len(b.lines)-1 {
		rule = "torn-tail"
	}
	b.add(name("garbage"), "bad-json", b.lostWith(i), b.with(i, i+1, []byte("@@ garbage @@"))...)
	b.add(name("glued"), "glued-records", 0, b.with(i-1, i+1, append(bytes.Clone(b.lines[i-1].raw), l.raw...))...)
	b.add(name("half"), rule, -1, b.with(i, i+1, half)...)
	b.add(name("nul"), "nul-bytes", 0, b.with(i, i+1, append(make([]byte, 32), l.raw...))...)
	b.add(name("utf8-between"), "invalid-utf8", 0, b.with(i, i+1, append([]byte{'{', 0xFF}, l.raw[1:]...))...)
	if i+1 < len(b.lines) {
		b.add(name("half-glued"), "glued-records", -1, b.with(i, i+2, append(bytes.Clone(half), b.lines[i+1].raw...))...)
	}
	b.text(i, name)
	if b.paginated() && l.item {
		for _, value := range []string{`"` + strconv.FormatInt(l.ordinal, 10) + `"`, strconv.FormatInt(l.ordinal, 10) + ".0", "-1"} {
			b.add(name("ordinal-"+strings.Trim(value, `"`)), "ordinal-invalid", 0,
				b.with(i, i+1, bytes.Replace(l.raw, ordinal(l.ordinal), []byte(`"ordinal":`+value+","), 1))...)
		}
	}
	if l.kind == "additional_tools" || l.kind == "message" && bytes.Contains(l.raw, []byte(`"role":"developer"`)) {
		for k := range b.cases[first:] {
			b.cases[first+k].Beside = true
		}
	}
	if l.item && l.id != "" {
		b.pair(i, name)
	}
}

// text damages the words in a record.
func (b *breaker) text(i int, name func(string) string) {
	raw := b.lines[i].raw
	at := bytes.LastIndex(raw, []byte(`"text":"`))
	if j := bytes.LastIndex(raw, []byte(`"output":"`)); j >= 0 {
		at = j + 2
	}
	if at < 0 {
		return
	}
	at += len(`"text":"`)
	insert := func(what string) []byte {
		return append(append(bytes.Clone(raw[:at]), what...), raw[at:]...)
	}
	for _, d := range []struct{ name, rule, what string }{
		{"surrogate", "lone-surrogate", `\ud83d`},
		{"split", "split-record", "\n"},
		{"control", "raw-control", "\x1b"},
		{"utf8", "invalid-utf8", "\xff\xfe"},
		{"cesu8", "invalid-utf8", "\xed\xa0\xbd\xed\xb8\x80"},
	} {
		b.add(name(d.name), d.rule, 0, b.with(i, i+1, insert(d.what))...)
		b.words()
	}
}

// pair damages a call or an output.
func (b *breaker) pair(i int, name func(string) string) {
	l := b.lines[i]
	output := strings.HasSuffix(l.kind, "_output")
	if !output {
		lost := b.lostWith(i)
		b.add(name("dropped"), "output-without-call", lost, b.with(i, i+1)...)
		b.add(name("twice"), b.twice("duplicate-call"), 0, b.with(i, i+1, l.raw, l.raw)...)
		if b.paginated() {
			b.add(name("dropped-renumbered"), "output-without-call", lost, renumbered(b.with(i, i+1))...)
			b.cases[len(b.cases)-1].Beside = b.besideCall(i)
		}
		if l.kind == "function_call" {
			b.arguments(i, name)
		}
		return
	}
	b.add(name("dropped"), "call-without-output", 0, b.with(i, i+1)...)
	b.add(name("twice"), b.twice("duplicate-output"), 0, b.with(i, i+1, l.raw, l.raw)...)
	if b.paginated() {
		b.add(name("dropped-renumbered"), "call-without-output", 0, renumbered(b.with(i, i+1))...)
	}
	other := map[string]string{"function_call_output": "custom_tool_call_output", "custom_tool_call_output": "function_call_output"}[l.kind]
	if other != "" { // otherwise no other call has such an output
		b.add(name("kind"), "kind-mismatch", 0, b.with(i, i+1, bytes.Replace(l.raw, []byte(`"`+l.kind+`"`), []byte(`"`+other+`"`), 1))...)
	}
	call := b.partner(i)
	var swapped [][]byte
	for j := range b.lines {
		k := j
		if j == i {
			k = call
		} else if j == call {
			k = i
		}
		swapped = append(swapped, b.lines[k].raw)
	}
	b.add(name("swapped"), "output-before-call", 0, swapped...)
}

// twice is the rule that names a second copy of a call or an output: in a session with ordinals, the copy's own ordinal shows that
// it is one, whatever record it is.
func (b *breaker) twice(otherwise string) string {
	if b.paginated() {
		return "doubled-item"
	}
	return otherwise
}

// besideCall says whether the item before or after the one at i belongs to a call, since several calls may have run in
// parallel.
func (b *breaker) besideCall(i int) bool {
	for _, step := range []int{-1, 1} {
		j := i + step
		for ; j >= 0 && j < len(b.lines) && !b.lines[j].item; j += step {
		}
		if j >= 0 && j < len(b.lines) && b.lines[j].id != "" {
			return true
		}
	}
	return false
}

func (b *breaker) arguments(i int, name func(string) string) {
	raw := b.lines[i].raw
	var r struct {
		Payload struct{ Arguments json.RawMessage }
	}
	var text string
	if json.Unmarshal(raw, &r) != nil || json.Unmarshal(r.Payload.Arguments, &text) != nil {
		panic("damage: the call is not healthy")
	}
	b.add(name("arguments-object"), "bad-arguments", 0, b.with(i, i+1, bytes.Replace(raw, r.Payload.Arguments, []byte(text), 1))...)
	torn, _ := json.Marshal(text[:len(text)/2])
	b.add(name("arguments-torn"), "bad-arguments", 0, b.with(i, i+1, bytes.Replace(raw, r.Payload.Arguments, torn, 1))...)
}

// partner returns the index of the other half of a pair of call and output.
func (b *breaker) partner(i int) int {
	for j, l := range b.lines {
		if j != i && l.item && l.id == b.lines[i].id {
			return j
		}
	}
	panic("damage: a call without its output in a healthy session")
}

// asWritten is a text as the client writes it: Go would escape <, >, & and the two separators of lines and paragraphs.
func asWritten(text string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a string can be encoded
	return strings.NewReplacer(`\u2028`, "\u2028", `\u2029`, "\u2029").Replace(strings.TrimSuffix(b.String(), "\n"))
}

// lostWith returns how many items are lost for good with a record, because no event holds them a second time; -1 if that is not known.
func (b *breaker) lostWith(i int) int {
	l := b.lines[i]
	has := func(parts ...string) bool {
		for _, o := range b.lines {
			if o.item {
				continue
			}
			all := true
			for _, p := range parts {
				all = all && bytes.Contains(o.raw, []byte(p))
			}
			if all {
				return true
			}
		}
		return false
	}
	switch {
	case !l.item:
		return 0
	case l.id == "" && l.kind == "message":
		var r struct {
			Payload struct {
				Role    string
				Content []struct{ Text string }
			}
		}
		if json.Unmarshal(l.raw, &r) != nil || len(r.Payload.Content) == 0 || r.Payload.Role == "developer" {
			return 1
		}
		if len(r.Payload.Content) > 1 {
			return -1 // an event may hold them in a form of its own
		}
		text := asWritten(r.Payload.Content[0].Text)
		if has("user_message", text) || has("agent_message", text) || has("UserMessage", text) || has("AgentMessage", text) {
			return 0
		}
		return 1
	case l.kind == "tool_search_call":
		return 2 // its output goes along: no client sends one without its call
	case l.kind == "web_search_call" && (has(`"web_search_end"`) || has(`"WebSearch"`)):
		return 0 // an event holds the search
	case l.id == "":
		return 1
	case strings.HasSuffix(l.kind, "_output"):
		return 0 // a placeholder replaces it
	case has(`"` + l.id + `"`):
		return 0 // an event holds the call
	case bytes.Contains(l.raw, []byte(`"name":"exec"`)), bytes.Contains(l.raw, []byte(`"name":"wait"`)):
		return 0 // a script, or a wait for one: its text is lost, but not what it ran and printed
	}
	return 1 // it is replaced by a call that says that it was lost
}
