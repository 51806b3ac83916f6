package codex

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// Held reads the items that a compaction holds, as if each were a record of its own.
type Held struct {
	scanner *jsonl.Scanner
	spans   []jsonl.Span
}

// heldShape finds the fields of an item that has no envelope around it.
var heldShape = mustCompile(withoutEnvelope(paths))

const inPayload = "payload."

// withoutEnvelope keeps every field's index. A field of the envelope gets a name that no item has.
func withoutEnvelope(paths [fieldCount]string) [fieldCount]string {
	for i, p := range paths {
		if inner, ok := strings.CutPrefix(p, inPayload); ok {
			paths[i] = inner
		} else {
			paths[i] = "\x00" + p
		}
	}
	return paths
}

// NewHeld makes a reader.
func NewHeld() *Held {
	return &Held{scanner: jsonl.NewScanner(heldShape), spans: make([]jsonl.Span, fieldCount)}
}

// SumsUp says whether an item of a compaction stands for all that was said before.
func SumsUp(item *session.Record) bool {
	return item.Type == "response_item/compaction" || item.Type == "response_item/compaction_summary"
}

// Each calls do with every item of a compaction's replacement history, and with the item's offset in compaction.Raw. Anything
// that is not an object is Unreadable. The item is valid until do returns.
func (h *Held) Each(compaction *session.Record, do func(item *session.Record, at int)) {
	start := compaction.Spans[FieldReplacement].Start
	raw := Field(compaction, FieldReplacement)
	if len(raw) == 0 || raw[0] != '[' {
		return
	}
	gjson.ParseBytes(raw).ForEach(func(_, v gjson.Result) bool {
		at := start + v.Index
		item := session.Record{
			Pos: compaction.Pos, Offset: compaction.Offset, Raw: compaction.Raw[at : at+len(v.Raw)], Spans: h.spans, Kind: session.Unreadable,
		}
		if h.scanner.Scan(item.Raw, h.spans).Object {
			item.Kind = session.Other
			h.spans[FieldPayload] = jsonl.Span{End: len(item.Raw)}
			decodeItem(&item)
		}
		do(&item, at)
		return true
	})
}
