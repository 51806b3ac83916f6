package codex

import (
	"slices"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/session"
)

// Weigh says how much the client can take from a record: its type first, then what its typed reader needs, then whether it says
// anything.
func (Decoder) Weigh(rec *session.Record) int {
	const read, fits, says = 1 << 8, 1 << 4, 1
	switch {
	case rec.Type == "":
		return 0
	case rec.Kind == session.Header:
		return read + fits - len(HeaderFaults(rec.Raw, Known{}))
	case rec.Type == "response_item" || rec.Type == "event_msg":
		return 1
	}
	w := read + weighList(rec)
	if Misfit(rec) == "" && (rec.Type != "response_item/message" || slices.Contains(roles, string(rec.Role))) {
		w += fits
	}
	if parts := gjson.GetBytes(Field(rec, FieldContent), "#.type").Array(); len(parts) > 0 && (parts[0].Str == "output_text") == (string(rec.Role) == "assistant") {
		w += says // a part's type fits one role only
	}
	for _, field := range []int{FieldFirstText, FieldOutput, FieldArguments, FieldInput, FieldMessage, FieldItemText, FieldEncrypted, FieldName, FieldNamespace, FieldCallID} {
		if raw := Field(rec, field); len(raw) > len(`""`) && raw[0] != 'n' {
			w += says
		}
	}
	return w
}

// lists are the fields that hold lists of parts, and the parts as clients write them.
var lists = []struct {
	field int
	of    want
}{{FieldContent, content}, {FieldOutput, output}, {FieldSummary, summary}, {FieldReplacement, content}}

// weighList counts the items of a compaction that the client can read, and the texts in a record's lists.
func weighList(rec *session.Record) (w int) {
	if rec.Kind == session.Compaction {
		NewHeld().Each(rec, func(item *session.Record, _ int) {
			if w += weighList(item); Misfit(item) == "" && item.Type != "response_item" {
				w++
			}
		})
		return w
	}
	for _, l := range lists {
		gjson.ParseBytes(Field(rec, l.field)).ForEach(func(_, part gjson.Result) bool {
			member := partText[l.of][part.Get("type").String()]
			if len(part.Get(member).String()) > 0 || len(part.Get("image_url").String()) > 0 {
				w++
			}
			return true
		})
	}
	return w
}

// Doubled is the offset of a key that stands twice in a part of a list. Nearly every list has the client's own form, which has none.
func (Decoder) Doubled(rec *session.Record) int {
	if !rec.Model && rec.Kind != session.Compaction || rec.Kind == session.Call { // as most records
		return -1
	}
	for i := range lists {
		l := &lists[i]
		span := rec.Spans[l.field]
		if span.End-span.Start < len(`[{"":0,"":0}]`) || rec.Raw[span.Start] != '[' {
			continue
		}
		raw := span.Of(rec.Raw)
		if l.field == FieldContent && OneText(rec) || plain(raw, plainParts[l.of]) {
			continue
		}
		if at := session.DoubledInList(raw); at >= 0 {
			return span.Start + at
		}
	}
	return -1
}

// roles are those of the messages that clients write.
var roles = []string{"user", "assistant", "developer", "system"}
