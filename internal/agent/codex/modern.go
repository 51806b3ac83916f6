package codex

import (
	"cmp"
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
	case "":
		if kind := kindOf(rec); kind != "" {
			return within(rec, session.SetMember(Field(rec, FieldPayload), "", "type", quote(kind))), "it has no type, but what it holds is a " + kind
		}
	case "function_call_output", "custom_tool_call_output":
		if span := rec.Spans[FieldOutput]; len(span.Of(rec.Raw)) > 0 && rec.Raw[span.Start] == '{' {
			return session.Cut{Start: span.Start, End: span.End, New: plainOutput(span.Of(rec.Raw))}, "the output is an object"
		}
		return listed(rec)
	case "message":
		return listed(rec)
	case "local_shell_call":
		return wholeTimeout(rec)
	case "reasoning":
		raw := Field(rec, FieldSummary)
		if missing := len(raw) == 0 || raw[0] == 'n'; missing && IsString(rec, FieldEncrypted) && fitsBut(rec, "summary") {
			return within(rec, session.SetMember(Field(rec, FieldPayload), "", "summary", []byte("[]"))), "it has no summary"
		}
		return listed(rec)
	case "function_call":
		if !textOrNone(Field(rec, FieldNamespace)) && fitsBut(rec, "namespace") {
			return within(rec, session.DropMember(Field(rec, FieldPayload), "", "namespace")), "its namespace is no text"
		}
	}
	return session.Cut{}, ""
}

// kindOf is the kind of an item without a type: the only one that has most of its members; "" if there is none.
func kindOf(rec *session.Record) (kind string) {
	if raw := Field(rec, FieldPayloadType); len(raw) > 0 && raw[0] != 'n' || len(Field(rec, FieldPayload)) == 0 {
		return ""
	}
	most := 0
	for i := range typedItems {
		t := &typedItems[i]
		if misfit(rec, t.members) != "" || !slices.ContainsFunc(t.members, func(m typedMember) bool { return !m.optional }) {
			continue
		}
		n := 0
		for _, m := range t.members {
			if gjson.GetBytes(Field(rec, FieldPayload), m.name).Exists() {
				n++
			}
		}
		switch {
		case n > most:
			most, kind = n, t.kind
		case n == most:
			kind = ""
		}
	}
	return kind
}

// Modernize gives a record that another program has written the form of the client's: a time that is a number or missing, and an item without
// a type. A record without a time gets that of the record before, a header the thread's.
func (Decoder) Modernize(rec *session.Record, before []byte) (line []byte, what string, guessed bool) {
	timed := IsString(rec, FieldTimestamp)
	if timed && rec.Type != "response_item" { // nearly always
		return nil, "", false
	}
	var cuts []session.Cut
	if payload := Field(rec, FieldPayload); !timed && lineTypes.of(rec, FieldType) != nil && len(payload) > 0 && payload[0] == '{' {
		own := gjson.ParseBytes(Field(rec, FieldTimestamp))
		stamp := quote(stampOf(own))
		if what = "its time is a number"; own.Type == gjson.Null {
			what, guessed, stamp = "it has no time", true, before
			if begun := gjson.GetBytes(payload, "timestamp"); begun.Type == gjson.String && string(Literal(rec, FieldType)) == "session_meta" {
				stamp = []byte(begun.Raw)
			}
		}
		if len(stamp) <= len(`""`) {
			return nil, "", false
		}
		cuts = append(cuts, session.SetMember(rec.Raw, "", "timestamp", stamp))
	}
	if string(Literal(rec, FieldType)) == "response_item" && ItemKind(rec) == "" {
		if cut, lacks := Modernize(rec); lacks != "" {
			cuts, what = append(cuts, cut), cmp.Or(what, lacks)
		}
	}
	if line, err := session.Apply(rec.Raw, cuts); err == nil {
		return line, what, guessed
	}
	return nil, "", false
}

// When is the literal of a record's timestamp.
func (Decoder) When(rec *session.Record) []byte {
	if IsString(rec, FieldTimestamp) {
		return Field(rec, FieldTimestamp)
	}
	return nil
}

// fitsBut says whether the client's typed reader reads all members of an item but one.
func fitsBut(rec *session.Record, name string) bool {
	others := slices.DeleteFunc(slices.Clone(membersOf(ItemKind(rec))), func(m typedMember) bool { return m.name == name })
	return misfit(rec, others) == ""
}

// LacksCallID says whether an item would be read if it had a call_id.
func LacksCallID(rec *session.Record) bool {
	raw := Field(rec, FieldCallID)
	return (len(raw) == 0 || raw[0] == 'n') && !rec.Sound && !rec.Torn && Misfit(rec) != "" && fitsBut(rec, "call_id")
}

// within is a cut of a payload as one of its record.
func within(rec *session.Record, cut session.Cut) session.Cut {
	start := rec.Spans[FieldPayload].Start
	cut.Start, cut.End = cut.Start+start, cut.End+start
	return cut
}

// textPart is the kind of part as which a text stands in each kind of list.
var textPart = map[want]string{content: "input_text", output: "input_text", summary: "summary_text", thoughts: "reasoning_text"}

// listed makes the list of parts that the client reads of a member that holds its texts in another way, as other programs write it: a text,
// one part, or a list of texts or of parts of another name.
func listed(rec *session.Record) (session.Cut, string) {
	for _, m := range membersOf(ItemKind(rec)) {
		kind, raw := textPart[m.want], Field(rec, m.field)
		if kind == "" || len(raw) == 0 || raw[0] == 'n' || m.want.fits(raw) {
			continue
		}
		if m.want == content && string(rec.Role) == "assistant" {
			kind = "output_text"
		}
		parts, ok := listOf(gjson.ParseBytes(raw), m.want, kind)
		if !ok || !fitsBut(rec, m.name) {
			break
		}
		span := rec.Spans[m.field]
		return session.Cut{Start: span.Start, End: span.End, New: parts}, "its " + m.name + " is no list of what the client reads"
	}
	return session.Cut{}, ""
}

// listOf is a list of parts, of which those that the client can't read become texts or pictures; ok is false if one of them holds neither.
func listOf(of gjson.Result, as want, kind string) (list []byte, ok bool) {
	parts := []gjson.Result{of}
	if of.IsArray() {
		parts = of.Array()
	}
	list = append(list, '[')
	for i, part := range parts {
		text := part
		if part.IsObject() {
			text = part.Get("text")
		}
		if i > 0 {
			list = append(list, ',')
		}
		switch {
		case part.IsObject() && readablePart(part, partText[as]):
			list = append(list, part.Raw...)
		case text.Type == gjson.String:
			list = append(append(list, `{"type":"`+kind+`","text":`...), text.Raw+"}"...)
		case part.Get("image_url.url").Type == gjson.String && (as == content || as == output):
			list = append(append(list, `{"type":"input_image","image_url":`...), part.Get("image_url.url").Raw+"}"...)
		default:
			return nil, false
		}
	}
	return append(list, ']'), true
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
