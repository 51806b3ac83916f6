package claude

import (
	"bytes"

	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// Decoder reads session files of every version.
type Decoder struct{}

// Shape is the fields that Decode wants.
func (Decoder) Shape() *jsonl.Shape { return shape }

// Paths is the number of fields in Shape.
func (Decoder) Paths() int { return fieldCount }

// Starts are the beginnings of a record: those of the conversation begin with their parent, others with their type. Content
// blocks begin with a type, too, so record types are spelt out.
func (Decoder) Starts() [][]byte { return starts }

var starts = startList(
	"user", "assistant", "system", "attachment", "progress", "summary", "queue-operation", "last-prompt", "api-request",
	"api-request-blob", "api-request-shape", "file-history-snapshot", "file-history-delta", "mode", "permission-mode",
	"tools-used", "atis-latch", "cost-state", "custom-title", "agent-name", "ai-title", "tag", "pr-link",
)

func startList(types ...string) [][]byte {
	list := [][]byte{[]byte(`{"parentUuid":`), []byte(`{"uuid":"`), []byte(`{"parentUuid" :`), []byte(`{"parentUuid": `)}
	for _, t := range types {
		list = append(list, []byte(`{"type":"`+t+`"`))
	}
	return list
}

// Envelope says whether the object has what only a record has: a parent, an id of its own or of the session, or a type that is
// bookkeeping of the client's.
func (Decoder) Envelope(rec *session.Record) bool {
	if len(field(rec, fieldParent)) > 0 || len(field(rec, fieldSession)) > 0 || len(text(rec, fieldUUID)) > 0 {
		return true
	}
	switch string(text(rec, fieldType)) {
	case "summary", "last-prompt", "file-history-snapshot", "file-history-delta", "custom-title":
		return true
	}
	return false
}

// Complete says whether a record that was cut off, and closed behind its last whole member, still holds a message.
func (Decoder) Complete(rec *session.Record) bool {
	if len(text(rec, fieldResultID)) > 0 && len(field(rec, fieldBlockContent)) == 0 {
		return false // an output that lost its content would look like the output of a tool that said nothing
	}
	return len(field(rec, fieldContent)) > 2 && len(text(rec, fieldRole)) > 0 && len(field(rec, fieldParent)) > 0
}

// TextCut says whether the byte of rec.Raw at offset at lies in the words of a message or of a tool's output.
func (Decoder) TextCut(rec *session.Record, at int) bool {
	span := rec.Spans[fieldContent]
	if at < span.Start || at >= span.End || len(text(rec, fieldRole)) == 0 || len(field(rec, fieldParent)) == 0 {
		return false
	}
	raw := field(rec, fieldContent)
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
	typ := typeName(text(rec, fieldType))
	rec.Type = typ
	switch typ {
	case "user", "assistant":
		decodeMessage(rec)
	case "system":
		if sub := text(rec, fieldSubtype); len(sub) > 0 {
			rec.Type = "system/" + string(sub)
		}
		switch rec.Type {
		case "system/compact_boundary":
			rec.Kind = session.Compaction
		case "system/turn_duration":
			rec.Kind = session.TurnEnd
		}
	case "attachment":
		switch string(text(rec, fieldAttachment)) {
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
	rec.Role = text(rec, fieldRole)
	rec.TurnID = text(rec, fieldPromptID)
	if len(field(rec, fieldMessage)) == 0 {
		return
	}
	rec.Kind = session.Message
	if isTrue(rec, fieldAPIError) {
		rec.Kind = session.TurnEnd
		return
	}
	side := isTrue(rec, fieldSidechain)
	rec.Model = !side && !isTrue(rec, fieldAPIError)
	if rec.Type == "assistant" {
		rec.Answer = rec.Model
		rec.ID = text(rec, fieldMessageID)
	}
	switch string(text(rec, fieldBlockType)) {
	case "tool_use":
		rec.CallID = text(rec, fieldBlockID)
		rec.Kind, rec.Family, rec.Type = session.Call, session.Function, blockName(rec.Type, "/tool_use")
	case "tool_result":
		rec.CallID = text(rec, fieldResultID)
		rec.Kind, rec.Family, rec.Type = session.Output, session.Function, blockName(rec.Type, "/tool_result")
	case "thinking":
		rec.Type = blockName(rec.Type, "/thinking")
	default:
		rec.Boundary = rec.Type == "user" && rec.Model && !isTrue(rec, fieldMeta) && !isTrue(rec, fieldSummary) && asks(field(rec, fieldContent))
	}
	if len(rec.CallID) == 0 {
		rec.Kind, rec.Family = session.Message, session.NoFamily
	}
}
