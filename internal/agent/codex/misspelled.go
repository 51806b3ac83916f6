package codex

import (
	"slices"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/session"
)

// If a bit flips in a key, or in the name of a type or a role, the record stays valid, but no client finds what it needs of it, and
// skips it without a word (measured with 0.171.0). No client writes a name that differs in one bit from one of these, so what is
// missing was there. Events are left alone: what they show is not sent.

// flip is a byte of a record, and its value before one of its bits flipped.
type flip struct {
	at  int
	was byte
}

// flips collects the bits that may have flipped in a record.
type flips []flip

// Misspelled finds the one bit that flipped in a key that a record lacks, or in the name of a type or a role: the byte's offset in the
// record, and its value before. ok is false if nothing is lacking, or what is there instead is not certain.
func (Decoder) Misspelled(rec *session.Record) (at int, was byte, ok bool) {
	if spelled(rec) {
		return 0, 0, false
	}
	var f flips
	root := gjson.ParseBytes(rec.Raw)
	f.keys(root, "timestamp", "type", "payload")
	kind := root.Get("type")
	if !slices.Contains(conversation, kind.String()) {
		f.value(kind, conversation...)
	}
	if payload := root.Get("payload"); kind.String() == "response_item" && payload.IsObject() {
		f.item(payload)
	}
	if len(f) != 1 {
		return 0, 0, false
	}
	return f[0].at, f[0].was, true
}

// conversation are the types of lines that hold what is sent.
var conversation = []string{"session_meta", "response_item", "compacted", "turn_context"}

// itemNames are the types of items that are sent.
var itemNames = func() (names []string) {
	for _, t := range typedItems {
		names = append(names, t.kind)
	}
	return names
}()

// spelled is a quick check that nearly all records pass, using fields that are already known.
func spelled(rec *session.Record) bool {
	switch rec.Type {
	case "", "response_item":
		return string(Literal(rec, FieldType)) == "event_msg"
	case "response_item/message":
		return slices.Contains(roles, string(rec.Role)) && (rec.Sound || Misfit(rec) == "")
	}
	return true
}

// item checks an item's members, of which the content's parts are one.
func (f *flips) item(payload gjson.Result) {
	f.keys(payload, "type")
	kind := payload.Get("type")
	if !slices.Contains(itemNames, kind.String()) {
		f.value(kind, itemNames...)
	}
	if kind.String() != "message" {
		return
	}
	f.keys(payload, "role", "content")
	if role := payload.Get("role"); !slices.Contains(roles, role.String()) {
		f.value(role, roles...)
	}
	payload.Get("content").ForEach(func(_, part gjson.Result) bool {
		f.keys(part, "type")
		kind := part.Get("type")
		member, known := partText[content][kind.String()]
		if known && member != "" {
			f.keys(part, member)
		} else if !known {
			f.value(kind, "input_text", "output_text", "input_image")
		}
		return len(*f) == 0
	})
}

// keys looks for keys that an object lacks.
func (f *flips) keys(object gjson.Result, wanted ...string) {
	if !object.IsObject() {
		return
	}
	for _, key := range wanted {
		if object.Get(key).Exists() {
			continue
		}
		object.ForEach(func(k, _ gjson.Result) bool {
			f.value(k, key)
			return true
		})
	}
}

// value notes a text that differs from one of several words in one bit.
func (f *flips) value(text gjson.Result, words ...string) {
	if text.Type != gjson.String {
		return
	}
	for _, word := range words {
		if i := session.FlippedAt(text.Raw, `"`+word+`"`); i > 0 {
			*f = append(*f, flip{text.Index + i, word[i-1]})
		}
	}
}
