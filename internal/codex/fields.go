package codex

import (
	"bytes"

	"github.com/tidwall/gjson"

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
	FieldExecution
	FieldItemType
	FieldItemID
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
	FieldExecution:     "payload.execution",
	FieldItemType:      "payload.item.type",
	FieldItemID:        "payload.item.id",
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

// Text returns the bytes of a string field without its quotes and unescaped, nil if it is absent or no string.
func Text(rec *session.Record, field int) []byte {
	raw := Field(rec, field)
	if len(raw) < 2 || raw[0] != '"' {
		return nil
	}
	raw = raw[1 : len(raw)-1]
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw
	}
	return []byte(gjson.ParseBytes(Field(rec, field)).String())
}

// IsString says whether a field is there and a string.
func IsString(rec *session.Record, field int) bool {
	raw := Field(rec, field)
	return len(raw) > 0 && raw[0] == '"'
}

// contentStarts are how clients begin the content of a message.
var contentStarts = [][]byte{[]byte(`[{"type":"output_text","text":`), []byte(`[{"type":"input_text","text":`)}

// maxSearched is how long a content of another form may be, in bytes, to be searched for its text.
const maxSearched = 1 << 20

// FirstText returns the first text of a message's content as it stands in the file, quotes included, nil if there is
// none. Of contents as clients write them it is a part of the record; they may be very long.
func FirstText(rec *session.Record) []byte {
	content := Field(rec, FieldContent)
	for _, start := range contentStarts {
		if rest, ok := bytes.CutPrefix(content, start); ok && len(rest) > 0 && rest[0] == '"' {
			return rest[:literalEnd(rest)]
		}
	}
	if len(content) > maxSearched {
		return nil
	}
	v := gjson.GetBytes(content, "0.text")
	if v.Type != gjson.String {
		return nil
	}
	return []byte(v.Raw)
}

// literalEnd is the length of the string literal that b begins with.
func literalEnd(b []byte) int {
	for i := 1; ; {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return len(b)
		}
		i += n + 1
		slashes := 0
		for b[i-2-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return i
		}
	}
}

// ShownText returns the text of the message that an event shows, as it stands in the file, nil if there is none.
func ShownText(rec *session.Record) []byte {
	if rec.Type != "event_msg/item_completed" {
		if IsString(rec, FieldMessage) {
			return Field(rec, FieldMessage)
		}
		return nil
	}
	v := gjson.GetBytes(rec.Raw, "payload.item.content.0.text")
	if v.Type != gjson.String {
		return nil
	}
	return []byte(v.Raw)
}
