// Package damage breaks a healthy rollout in every way that has been seen in practice, one way at a time, and says which rule
// should find it. Tests of the repair and of the real client are based on it.
package damage

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf16"
)

// Case is one damaged session.
type Case struct {
	Name string
	Data []byte
	Rule string // the rule that must name it
	Lost int    // how many items of the model's history can't be recovered from the file; -1: some may be lost
	// Words says that the damage has changed the words of one item, or destroyed the instructions in the header.
	Words bool
	// Beside says that the damaged call was next to others, and its place among them can't be recovered; or that the client
	// tells the model of what is lost anew, at another place: a list of tools, or its own instructions.
	Beside bool
	// Dead says that no repair can make a session of it.
	Dead bool
}

// line is a record of the healthy session.
type line struct {
	raw     []byte
	kind    string // payload type of an item or event, else the type
	item    bool   // a response_item
	id      string // call_id; "" for a note, which a script sends besides its output
	ordinal int64  // -1: none
}

// Cases damages a healthy session.
func Cases(clean []byte) []Case {
	b := &breaker{lines: parse(clean), clean: clean}
	b.file()
	b.header()
	for i := 1; i < len(b.lines); i++ {
		b.record(i)
	}
	if b.paginated() {
		b.ordinals()
	}
	return b.cases
}

type breaker struct {
	clean []byte
	lines []line
	cases []Case
}

func parse(clean []byte) []line {
	var out []line
	for _, raw := range bytes.Split(bytes.TrimSuffix(clean, []byte("\n")), []byte("\n")) {
		var r struct {
			Ordinal *int64
			Type    string
			Payload struct {
				Type   string
				Name   string
				CallID string `json:"call_id"`
			}
		}
		if err := json.Unmarshal(raw, &r); err != nil {
			panic("damage: the session is not healthy: " + err.Error())
		}
		l := line{raw: raw, kind: r.Payload.Type, item: r.Type == "response_item", id: r.Payload.CallID, ordinal: -1}
		if l.kind == "" {
			l.kind = r.Type
		}
		if strings.HasSuffix(l.kind, "_output") && r.Payload.Name != "" {
			l.id = ""
		}
		if r.Ordinal != nil {
			l.ordinal = *r.Ordinal
		}
		out = append(out, l)
	}
	return out
}

func (b *breaker) paginated() bool { return b.lines[0].ordinal >= 0 }

func (b *breaker) add(name, rule string, lost int, lines ...[]byte) {
	b.cases = append(b.cases, Case{Name: name, Data: append(bytes.Join(lines, []byte("\n")), '\n'), Rule: rule, Lost: lost})
}

// words marks the newest case as one that changes words.
func (b *breaker) words() { b.cases[len(b.cases)-1].Words = true }

// with returns the session's lines with those from i to j replaced.
func (b *breaker) with(i, j int, lines ...[]byte) [][]byte {
	var out [][]byte
	for _, l := range b.lines[:i] {
		out = append(out, l.raw)
	}
	out = append(out, lines...)
	for _, l := range b.lines[j:] {
		out = append(out, l.raw)
	}
	return out
}

// renumbered gives the records consecutive numbers, as if nothing had ever been missing.
func renumbered(lines [][]byte) [][]byte {
	var out [][]byte
	for n, raw := range lines {
		l := parse(raw)[0]
		out = append(out, bytes.Replace(raw, ordinal(l.ordinal), ordinal(int64(n)), 1))
	}
	return out
}

func ordinal(n int64) []byte { return fmt.Appendf(nil, `"ordinal":%d,`, n) }

// file damages the bytes of the whole file.
func (b *breaker) file() {
	raw := func(name, rule string, data []byte) {
		b.cases = append(b.cases, Case{Name: name, Rule: rule, Data: data, Dead: name == "empty"})
	}
	raw("empty", "empty-file", nil)
	raw("bom", "bom", append([]byte("\ufeff"), b.clean...))
	raw("utf16-le", "bom", utf16Text(b.clean, true, true))
	raw("utf16-be", "bom", utf16Text(b.clean, false, true))
	raw("utf16-le-unmarked", "bom", utf16Text(b.clean, true, false))
	raw("nul-tail", "nul-bytes", append(bytes.Clone(b.clean), make([]byte, 400)...))
	raw("no-newline", "no-final-newline", bytes.TrimSuffix(b.clean, []byte("\n")))
	raw("crlf", "crlf", bytes.ReplaceAll(b.clean, []byte("\n"), []byte("\r\n")))
	b.add("blank", "blank-line", 0, b.with(3, 3, []byte("  "))...)
	b.add("garbage-between", "bad-json", 0, b.with(3, 3, []byte("@@ garbage @@"))...)
	b.add("scalar-between", "not-object", 0, b.with(3, 3, []byte("[1,2]"))...)
	b.add("nul-line", "nul-bytes", 0, b.with(3, 3, make([]byte, 64))...)
}

func utf16Text(text []byte, little, marked bool) []byte {
	units := utf16.Encode([]rune(string(text)))
	if marked {
		units = append([]uint16{0xFEFF}, units...)
	}
	var out []byte
	for _, u := range units {
		if little {
			out = append(out, byte(u), byte(u>>8))
		} else {
			out = append(out, byte(u>>8), byte(u))
		}
	}
	return out
}

// header damages the header.
func (b *breaker) header() {
	head := b.lines[0].raw
	b.add("no-header", "no-header", 0, b.with(0, 1)...)
	b.words()
	b.add("torn-header", "no-header", 0, b.with(0, 1, head[:len(head)*2/3])...)
	b.words()
	b.add("header-second", "header-not-first", 0, b.with(0, 2, b.lines[1].raw, head)...)
	b.add("garbage-first", "bad-json", 0, b.with(0, 0, []byte("#!garbage"))...)
	b.add("other-id", "id-mismatch", 0, b.with(0, 1, replaceID(head))...)
	for _, key := range []string{"timestamp", "cwd", "originator", "cli_version"} {
		b.add("header-without-"+key, "bad-header", 0, b.with(0, 1, member(head, key, func(map[string]json.RawMessage) json.RawMessage { return nil }))...)
	}
	set := func(name, key, value string) {
		b.add(name, "bad-header", 0, b.with(0, 1, member(head, key, func(map[string]json.RawMessage) json.RawMessage { return json.RawMessage(value) }))...)
	}
	set("header-plain-instructions", "base_instructions", `"You are a coding agent."`)
	set("header-unknown-mode", "history_mode", `"folded"`)
	set("header-number-timestamp", "timestamp", `1795204417`)
	set("header-null-source", "source", `null`)
	b.add("header-both-roles", "bad-header", 0, b.with(0, 1, bytes.Replace(head, []byte(`"payload":{`), []byte(`"payload":{"agent_role":"x","agent_type":"x",`), 1))...)
	b.add("header-duplicate-key", "duplicate-key", 0, b.with(0, 1, bytes.Replace(head, []byte(`"payload":{`), []byte(`"payload":{"originator":"codex_exec",`), 1))...)
}

func replaceID(head []byte) []byte {
	i := bytes.Index(head, []byte(`"id":"`)) + len(`"id":"`)
	out := bytes.Clone(head)
	copy(out[i+9:], "0000-7000-8000-000000000000")
	return out
}

// member changes one member of a header's payload; if value returns nil, it removes it.
func member(head []byte, key string, value func(map[string]json.RawMessage) json.RawMessage) []byte {
	var r, p map[string]json.RawMessage
	if json.Unmarshal(head, &r) != nil || json.Unmarshal(r["payload"], &p) != nil {
		panic("damage: the header is not healthy")
	}
	delete(p, key)
	if v := value(p); v != nil {
		p[key] = v
	}
	payload, _ := json.Marshal(p)
	front := `{"timestamp":` + string(r["timestamp"])
	if o, ok := r["ordinal"]; ok {
		front += `,"ordinal":` + string(o)
	}
	return []byte(front + `,"type":"session_meta","payload":` + string(payload) + `}`)
}

// ordinals damages the numbering of a paginated session.
func (b *breaker) ordinals() {
	n := len(b.lines)
	bare := func(i int) []byte { return bytes.Replace(b.lines[i].raw, ordinal(b.lines[i].ordinal), nil, 1) }
	b.add("last-without-ordinal", "ordinal-missing", 0, b.with(n-1, n, bare(n-1))...)
	b.add("tail-without-ordinals", "ordinal-missing", 0, b.with(n-3, n, bare(n-3), bare(n-2), bare(n-1))...)
	b.add("middle-without-ordinal", "ordinal-missing", 0, b.with(9, 10, bare(9))...)
	shifted := func(by int64) [][]byte {
		lines := b.with(10, n)
		for _, l := range b.lines[10:] {
			lines = append(lines, bytes.Replace(l.raw, ordinal(l.ordinal), ordinal(l.ordinal+by), 1))
		}
		return lines
	}
	b.add("ordinal-gap", "ordinal-gap", 0, shifted(3)...)
	b.add("ordinal-duplicate", "ordinal-duplicate", 0, shifted(-1)...)
	b.add("ordinal-backward", "ordinal-backward", 0, shifted(-4)...)
	head := b.lines[0].raw
	at := n / 2
	b.add("second-header", "stray-header", 0, renumbered(b.with(at, at, head))...)
	b.add("second-header-at-zero", "stray-header", 0, b.with(at, at, head)...)
	b.add("second-header-of-another", "stray-header", 0, renumbered(b.with(at, at, replaceID(head)))...)
}
