package format

import (
	"bytes"

	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// Decoder reads session files of every version.
type Decoder struct{ session.WholeRecords }

// Shape is the fields that Decode wants.
func (Decoder) Shape() *jsonl.Shape { return Shape }

// Paths is the number of fields in Shape.
func (Decoder) Paths() int { return FieldCount }

// Starts are the beginnings of a record: those of the conversation begin with their parent, others with their type. Content
// blocks begin with a type, too, so record types are spelt out.
func (Decoder) Starts() [][]byte { return starts }

// Bookkeeping are the types of records that are no part of the conversation.
var Bookkeeping = []string{
	"summary", "queue-operation", "last-prompt", "api-request", "api-request-blob", "api-request-shape", "file-history-snapshot", "file-history-delta",
	"mode", "permission-mode", "tools-used", "atis-latch", "cost-state", "custom-title", "agent-name", "ai-title", "tag", "pr-link",
}

var starts = startList(append([]string{"user", "assistant", "system", "attachment", "progress"}, Bookkeeping...))

func startList(types []string) [][]byte {
	list := [][]byte{[]byte(`{"parentUuid":`), []byte(`{"uuid":"`), []byte(`{"parentUuid" :`), []byte(`{"parentUuid": `)}
	for _, t := range types {
		list = append(list, []byte(`{"type":"`+t+`"`))
	}
	return list
}

// Envelope says whether the object has what only a record has: a parent, an id of its own or of the session, or a type that is
// bookkeeping of the client's.
func (Decoder) Envelope(rec *session.Record) bool {
	if len(Field(rec, FieldParent)) > 0 || len(Field(rec, FieldSession)) > 0 || len(Text(rec, FieldUUID)) > 0 {
		return true
	}
	switch string(Text(rec, FieldType)) {
	case "summary", "last-prompt", "file-history-snapshot", "file-history-delta", "custom-title":
		return true
	}
	return false
}

// Complete says whether a record that was cut off, and closed behind its last whole member, still holds a message.
func (Decoder) Complete(rec *session.Record) bool {
	if len(Text(rec, FieldResultID)) > 0 && len(Field(rec, FieldBlockContent)) == 0 {
		return false // an output that lost its content would look like the output of a tool that said nothing
	}
	return len(Field(rec, FieldContent)) > 2 && len(Text(rec, FieldRole)) > 0 && len(Field(rec, FieldParent)) > 0
}

// TextCut says whether the byte of rec.Raw at offset at lies in the words of a message or of a tool's output.
func (Decoder) TextCut(rec *session.Record, at int) bool {
	span := rec.Spans[FieldContent]
	if at < span.Start || at >= span.End || len(Text(rec, FieldRole)) == 0 || len(Field(rec, FieldParent)) == 0 {
		return false
	}
	raw := Field(rec, FieldContent)
	if raw[0] == '"' {
		return true
	}
	head := rec.Raw[span.Start:at]
	words := max(bytes.LastIndex(head, []byte(`"text":"`)), bytes.LastIndex(head, []byte(`"content":"`)))
	other := max(bytes.LastIndex(head, []byte(`"data":"`)), bytes.LastIndex(head, []byte(`"input":`)),
		bytes.LastIndex(head, []byte(`"signature":"`)), bytes.LastIndex(head, []byte(`"thinking":"`)), bytes.LastIndex(head, []byte(`"type":`)))
	return words > other
}

// Decode fills rec from its fields. A line with several content blocks is named for its first.
func (Decoder) Decode(rec *session.Record) {
	rec.Kind, rec.Family, rec.Type = session.Other, session.NoFamily, ""
	rec.ID, rec.CallID, rec.TurnID, rec.Role = nil, nil, nil, nil
	rec.Model, rec.Boundary, rec.Answer = false, false, false
	rec.Ordinal, rec.Prepared = session.Ordinal{}, nil
	typ := typeName(Text(rec, FieldType))
	rec.Type = typ
	switch typ {
	case "user", "assistant":
		decodeMessage(rec)
	case "system":
		if sub := Text(rec, FieldSubtype); len(sub) > 0 {
			rec.Type = "system/" + string(sub)
		}
		switch rec.Type {
		case "system/compact_boundary":
			rec.Kind = session.Compaction
		case "system/turn_duration":
			rec.Kind = session.TurnEnd
		}
	case "attachment":
		switch string(Text(rec, FieldAttachment)) {
		case "environment", "model":
			rec.Kind = session.Context
		}
	}
}

// typeName is a text as a string. Most texts are one of a few, for which nothing is allocated.
func typeName(text []byte) string {
	for _, name := range [...]string{"assistant", "user", "attachment", "api-request", "queue-operation", "last-prompt", "system"} {
		if string(text) == name {
			return name
		}
	}
	return string(text)
}

// blockName is a record's type together with that of its first content block, if that says more.
func blockName(typ, block string) string {
	switch {
	case typ == "assistant" && block == "/tool_use":
		return "assistant/tool_use"
	case typ == "assistant" && block == "/thinking":
		return "assistant/thinking"
	case typ == "user" && block == "/tool_result":
		return "user/tool_result"
	}
	return typ + block
}

// decodeMessage decodes the records that the model sees.
func decodeMessage(rec *session.Record) {
	rec.Role = Text(rec, FieldRole)
	rec.TurnID = Text(rec, FieldPromptID)
	if len(Field(rec, FieldMessage)) == 0 {
		return
	}
	rec.Kind = session.Message
	if IsTrue(rec, FieldAPIError) {
		rec.Kind = session.TurnEnd
		return
	}
	side := IsTrue(rec, FieldSidechain)
	rec.Model = !side && !IsTrue(rec, FieldAPIError)
	if rec.Type == "assistant" {
		rec.Answer = rec.Model
		rec.ID = Text(rec, FieldMessageID)
	}
	switch string(Text(rec, FieldBlockType)) {
	case "tool_use":
		rec.CallID = Text(rec, FieldBlockID)
		rec.Kind, rec.Family, rec.Type = session.Call, session.Function, blockName(rec.Type, "/tool_use")
	case "tool_result":
		rec.CallID = Text(rec, FieldResultID)
		rec.Kind, rec.Family, rec.Type = session.Output, session.Function, blockName(rec.Type, "/tool_result")
	case "thinking":
		rec.Type = blockName(rec.Type, "/thinking")
	default:
		rec.Boundary = rec.Type == "user" && rec.Model && !IsTrue(rec, FieldMeta) && !IsTrue(rec, FieldSummary) && asks(Field(rec, FieldContent))
	}
	if len(rec.CallID) == 0 {
		rec.Kind, rec.Family = session.Message, session.NoFamily
	}
}
