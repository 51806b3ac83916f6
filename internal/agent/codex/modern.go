package codex

import (
	"math"
	"slices"
	"strconv"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// Modernize gives an item of an old shape, which the client's typed reader refuses, the shape that it reads. Nothing is lost.
// what names the old shape in words; it is "" if the item has none.
func Modernize(rec *session.Record) (cut session.Cut, what string) {
	if !textOrNone(Field(rec, FieldID)) || !textOrNone(Field(rec, FieldCallID)) {
		return session.Cut{}, "" // the client would not read the result, either
	}
	switch ItemKind(rec) {
	case "function_call_output", "custom_tool_call_output":
		if span := rec.Spans[FieldOutput]; len(span.Of(rec.Raw)) > 0 && rec.Raw[span.Start] == '{' {
			return session.Cut{Start: span.Start, End: span.End, New: plainOutput(span.Of(rec.Raw))}, "the output is an object"
		}
	case "local_shell_call":
		return wholeTimeout(rec)
	case "reasoning":
		raw := Field(rec, FieldSummary)
		if missing := len(raw) == 0 || raw[0] == 'n'; missing && IsString(rec, FieldEncrypted) && fitsBut(rec, "summary") {
			return within(rec, session.SetMember(Field(rec, FieldPayload), "", "summary", []byte("[]"))), "it has no summary"
		}
	case "function_call":
		if !textOrNone(Field(rec, FieldNamespace)) && fitsBut(rec, "namespace") {
			return within(rec, session.DropMember(Field(rec, FieldPayload), "", "namespace")), "its namespace is no text"
		}
	}
	return session.Cut{}, ""
}

// fitsBut says whether the client's typed reader reads all members of an item but one.
func fitsBut(rec *session.Record, name string) bool {
	others := slices.DeleteFunc(slices.Clone(membersOf(ItemKind(rec))), func(m typedMember) bool { return m.name == name })
	return misfit(rec, others) == ""
}

// within is a cut of a payload as one of its record.
func within(rec *session.Record, cut session.Cut) session.Cut {
	start := rec.Spans[FieldPayload].Start
	cut.Start, cut.End = cut.Start+start, cut.End+start
	return cut
}

// plainOutput is the content of an output object: its list of items, of which its text is only another form, or else its text.
// Anything that the client would not read is written as a text, whole.
func plainOutput(raw []byte) []byte {
	object := gjson.ParseBytes(raw)
	items, text := object.Get("content_items"), object.Get("content")
	switch {
	case items.IsArray() && items.Get("#").Int() > 0:
		if parts := []byte(items.Raw); readableParts(parts, output) {
			return parts
		}
	case text.Type == gjson.String:
		return []byte(text.Raw)
	}
	return jsonl.AppendQuote(nil, string(raw))
}

// wholeTimeout writes a timeout of 1000.0 as 1000.
func wholeTimeout(rec *session.Record) (session.Cut, string) {
	payload := rec.Spans[FieldPayload]
	v := gjson.GetBytes(payload.Of(rec.Raw), "action.timeout_ms")
	if v.Type != gjson.Number || v.Num < 0 || v.Num != math.Trunc(v.Num) || v.Num > math.MaxInt32 {
		return session.Cut{}, ""
	}
	whole := strconv.FormatInt(int64(v.Num), 10)
	if v.Raw == whole {
		return session.Cut{}, ""
	}
	action := gjson.GetBytes(payload.Of(rec.Raw), "action")
	within := v.Index - action.Index
	fixed := action.Raw[:within] + whole + action.Raw[within+len(v.Raw):]
	if state := gjson.GetBytes(payload.Of(rec.Raw), "status"); !shellState.fits([]byte(state.Raw)) || !readableShellCall([]byte(fixed)) {
		return session.Cut{}, "" // the client would not read the result, either
	}
	at := payload.Start + v.Index
	return session.Cut{Start: at, End: at + len(v.Raw), New: []byte(whole)}, "its timeout is not written as an integer"
}
