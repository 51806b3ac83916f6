package format

import (
	"slices"

	"github.com/hist-cli/hist/internal/session"
)

// If a bit flips in a key, the record stays valid, but no client finds the member: the record seems to lack it. So what a
// record lacks is looked for under a key that differs from the right one in a single bit. No client writes such a key.

// needed are the members that clients require in a record of the conversation, by its type, and what they look for in records
// of other types.
var needed = map[string][]string{
	"user":        {"uuid", "parentUuid", "message", "timestamp"},
	"assistant":   {"uuid", "parentUuid", "message", "timestamp"},
	"system":      {"uuid", "parentUuid", "timestamp", "subtype"},
	"attachment":  {"uuid", "parentUuid", "timestamp"},
	"last-prompt": {"leafUuid", "lastPrompt"},
}

// neededIn are the members of content blocks, by their types.
var neededIn = map[string][]string{
	"text":              {"text"},
	"tool_use":          {"id", "name", "input"},
	"tool_result":       {"tool_use_id", "content"},
	"thinking":          {"thinking", "signature"},
	"redacted_thinking": {"data"},
	"image":             {"source"},
	"document":          {"source"},
}

// Misspelled finds the one bit that flipped in a key, or in the name of a type: the byte's offset in the record, and its value
// before. ok is false if nothing that the record lacks can be found that way.
func (Decoder) Misspelled(rec *session.Record) (at int, was byte, ok bool) {
	if lacksNothing(rec) {
		return 0, 0, false
	}
	f := flips{raw: rec.Raw}
	f.record(PastSpace(rec.Raw, 0))
	if len(f.found) != 1 {
		return 0, 0, false
	}
	return f.found[0].at, f.found[0].was, true
}

// lacksNothing is a quick check that nearly all records pass, using fields that are already known.
func lacksNothing(rec *session.Record) bool {
	has := func(fields ...int) bool {
		for _, f := range fields {
			if rec.Spans[f].End == 0 {
				return false
			}
		}
		return true
	}
	switch string(Text(rec, FieldType)) {
	case "user", "assistant":
		if !has(FieldUUID, FieldParent, FieldTimestamp, FieldContent) {
			return false
		}
		if Field(rec, FieldContent)[0] != '[' || !has(FieldBlock) {
			return true
		}
		switch string(Text(rec, FieldBlockType)) {
		case "text":
			return has(FieldBlockText)
		case "tool_use":
			return has(FieldBlockID, FieldBlockName, FieldBlockInput)
		case "tool_result":
			return has(FieldResultID, FieldBlockContent)
		case "thinking":
			return has(FieldBlockThinking, FieldBlockSignature)
		case "redacted_thinking", "image", "document":
			return true
		}
		return false
	case "system":
		return has(FieldUUID, FieldParent, FieldTimestamp, FieldSubtype) && (string(Text(rec, FieldSubtype)) != compactBoundary || has(FieldCompact, FieldLogicalParent))
	case "attachment":
		return has(FieldUUID, FieldParent, FieldTimestamp)
	case "last-prompt":
		return has(FieldLeaf, FieldLastPrompt)
	case "":
		return !has(FieldParent)
	}
	for name := range needed {
		if session.FlippedAt(string(Text(rec, FieldType)), name) >= 0 {
			return false
		}
	}
	return true
}

const compactBoundary = "compact_boundary"

// flip is a byte of a record, and its value before one of its bits flipped.
type flip struct {
	at  int
	was byte
}

// flips collects the bits that may have flipped in a record.
type flips struct {
	raw   []byte
	found []flip
}

// record checks the object that is the record.
func (f *flips) record(at int) {
	members, _ := cutObject(nil, f.raw[at:])
	typ := f.typeOf(at, members, needed)
	lacks := needed[typ]
	if f.word(at, members, "subtype") == compactBoundary {
		lacks = append(slices.Clone(lacks), "compactMetadata", "logicalParentUuid")
	}
	f.keys(at, members, lacks)
	if typ == "system" {
		if _, names := f.member(at, members, "subtype"); names != nil {
			f.value(at+names.At, f.raw[at+names.At:at+names.end], compactBoundary)
		}
	}
	if message, m := f.member(at, members, "message"); m != nil && (typ == "user" || typ == "assistant") {
		f.message(message)
	}
}

// message checks the message's object and its blocks.
func (f *flips) message(at int) {
	if f.raw[at] != '{' {
		return
	}
	members, _ := cutObject(nil, f.raw[at:])
	f.keys(at, members, []string{"content"})
	content, m := f.member(at, members, "content")
	if m == nil || f.raw[content] != '[' {
		return
	}
	for i := PastSpace(f.raw, content+1); i < len(f.raw) && f.raw[i] == '{'; {
		blocks, size := cutObject(nil, f.raw[i:])
		f.keys(i, blocks, neededIn[f.typeOf(i, blocks, neededIn)])
		if i = PastSpace(f.raw, i+size); i < len(f.raw) && f.raw[i] == ',' {
			i = PastSpace(f.raw, i+1)
		}
	}
}

// typeOf is the type of an object, "" if it has none or one with a flipped bit.
func (f *flips) typeOf(at int, members []Entry, types map[string][]string) string {
	_, m := f.member(at, members, "type")
	if m == nil {
		f.keys(at, members, []string{"type"})
		return ""
	}
	typ := f.word(at, members, "type")
	if _, known := types[typ]; known {
		return typ
	}
	for name := range types {
		f.value(at+m.At, f.raw[at+m.At:at+m.end], name)
	}
	return ""
}

// member is the member with a key, and where its value begins in the record; nil if the object has none.
func (f *flips) member(at int, members []Entry, key string) (value int, m *Entry) {
	for i := range members {
		if m := &members[i]; string(f.raw[at+m.KeyAt+1:at+m.keyEnd-1]) == key {
			return at + m.At, m
		}
	}
	return 0, nil
}

// word is the text of a member, "" if it is not a string.
func (f *flips) word(at int, members []Entry, key string) string {
	value, m := f.member(at, members, key)
	if m == nil || m.end-m.At < 2 || f.raw[value] != '"' {
		return ""
	}
	return string(f.raw[value+1 : at+m.end-1])
}

// keys looks for keys that an object lacks.
func (f *flips) keys(at int, members []Entry, lacks []string) {
	for _, key := range lacks {
		if _, m := f.member(at, members, key); m != nil {
			continue
		}
		for i := range members {
			m := &members[i]
			f.value(at+m.KeyAt, f.raw[at+m.KeyAt:at+m.keyEnd], key)
		}
	}
}

// value notes a text in quotes that differs from a word in one bit.
func (f *flips) value(at int, quoted []byte, word string) {
	if len(quoted) < 2 {
		return
	}
	if i := session.FlippedAt(string(quoted[1:len(quoted)-1]), word); i >= 0 {
		f.found = append(f.found, flip{at + 1 + i, word[i]})
	}
}
