package codex

import (
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// The fields that Decode and the rules look at, as indexes of session.Record.Spans.
const (
	FieldTimestamp = iota
	FieldOrdinal
	FieldType
	FieldPayload
	FieldPayloadType
	FieldID
	FieldCallID
	FieldTurnID
	FieldRole
	FieldName
	FieldArguments
	FieldInput
	FieldOutput
	FieldContent
	FieldFirstText
	FieldExecution
	FieldItemType
	FieldItemID
	FieldItemStatus
	FieldItemText
	FieldItemOutput
	FieldAggregated
	FieldRateLimits
	FieldReplacement
	FieldNumTurns
	FieldHistoryMode
	FieldHistoryBase
	FieldSubagentStart
	FieldThreadID
	FieldError
	FieldLastMessage
	FieldMessage
	FieldReason
	FieldNamespace
	FieldSandbox
	FieldSummary
	FieldEncrypted
	fieldCount
)

var paths = [fieldCount]string{
	FieldTimestamp:     "timestamp",
	FieldOrdinal:       "ordinal",
	FieldType:          "type",
	FieldPayload:       "payload",
	FieldPayloadType:   "payload.type",
	FieldID:            "payload.id",
	FieldCallID:        "payload.call_id",
	FieldTurnID:        "payload.turn_id",
	FieldRole:          "payload.role",
	FieldName:          "payload.name",
	FieldArguments:     "payload.arguments",
	FieldInput:         "payload.input",
	FieldOutput:        "payload.output",
	FieldContent:       "payload.content",
	FieldFirstText:     "payload.content.[0].text",
	FieldExecution:     "payload.execution",
	FieldItemType:      "payload.item.type",
	FieldItemID:        "payload.item.id",
	FieldItemStatus:    "payload.item.status",
	FieldItemText:      "payload.item.content.[0].text",
	FieldItemOutput:    "payload.item.aggregated_output",
	FieldAggregated:    "payload.aggregated_output",
	FieldRateLimits:    "payload.rate_limits",
	FieldReplacement:   "payload.replacement_history",
	FieldNumTurns:      "payload.num_turns",
	FieldHistoryMode:   "payload.history_mode",
	FieldHistoryBase:   "payload.history_base",
	FieldSubagentStart: "payload.subagent_history_start_ordinal",
	FieldThreadID:      "payload.thread_id",
	FieldError:         "payload.error",
	FieldLastMessage:   "payload.last_agent_message",
	FieldMessage:       "payload.message",
	FieldReason:        "payload.reason",
	FieldNamespace:     "payload.namespace",
	FieldSandbox:       "payload.sandbox_policy",
	FieldSummary:       "payload.summary",
	FieldEncrypted:     "payload.encrypted_content",
}

var shape = mustCompile(paths)

func mustCompile(paths [fieldCount]string) *jsonl.Shape {
	s, err := jsonl.Compile(paths[:]...)
	if err != nil {
		panic("codex: " + err.Error()) // a wrong literal above
	}
	return s
}

// Field returns the raw JSON of a field, nil if the record lacks it.
func Field(rec *session.Record, field int) []byte {
	return rec.Spans[field].Of(rec.Raw)
}

// Text returns the bytes of a string field without its quotes and unescaped; nil if it is absent or not a string.
func Text(rec *session.Record, field int) []byte {
	body := Literal(rec, field)
	if !jsonl.HasEscape(body) {
		return body
	}
	text, _ := jsonl.AppendUnquoted(nil, Field(rec, field))
	return text
}

// Literal returns what is between the quotes of a string field, escapes included; nil if it is absent or not a string.
func Literal(rec *session.Record, field int) []byte {
	if raw := Field(rec, field); len(raw) > 1 && raw[0] == '"' {
		return raw[1 : len(raw)-1]
	}
	return nil
}

// IsString says whether a field is present and a string.
func IsString(rec *session.Record, field int) bool {
	raw := Field(rec, field)
	return len(raw) > 0 && raw[0] == '"'
}

// FirstText returns the first text of a message's content as it is in the file, quotes included; nil if there is none. It is a
// part of the record, and may be very long.
func FirstText(rec *session.Record) []byte { return quoted(rec, FieldFirstText) }

// quoted returns a string field as it is in the file, quotes included; nil if it is absent or not a string.
func quoted(rec *session.Record, field int) []byte {
	if !IsString(rec, field) {
		return nil
	}
	return Field(rec, field)
}

// ShownText returns the text of the message that an event shows, as it is in the file; nil if there is none.
func ShownText(rec *session.Record) []byte { return quoted(rec, ShownField(rec)) }

// ShownField is the field that holds the message which an event shows.
func ShownField(rec *session.Record) int {
	if rec.Type == "event_msg/item_completed" {
		return FieldItemText
	}
	return FieldMessage
}
