package codex

import (
	"bytes"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/session"
)

// Complete says whether a closed record has every member the client requires of its kind, as far as a record cut
// short is worth keeping: model history and the ends of turns.
func (Decoder) Complete(rec *session.Record) bool {
	switch rec.Type {
	case "response_item/message", "response_item/agent_message":
		content := Field(rec, FieldContent)
		return len(content) > 2 && bytes.Contains(content, textKey)
	case "response_item/reasoning":
		return bytes.Contains(rec.Raw, []byte(`"summary":[`)) && bytes.Contains(rec.Raw, []byte(`"encrypted_content":"`))
	case "response_item/function_call":
		return IsString(rec, FieldName) && IsString(rec, FieldArguments) && IsString(rec, FieldCallID)
	case "response_item/custom_tool_call":
		return IsString(rec, FieldName) && IsString(rec, FieldInput) && IsString(rec, FieldCallID)
	case "response_item/function_call_output", "response_item/custom_tool_call_output":
		output := Field(rec, FieldOutput)
		return IsString(rec, FieldCallID) && len(output) > 2 && wholeParts(output)
	case "event_msg/task_complete", "event_msg/turn_aborted":
		return IsString(rec, FieldTurnID) && (rec.Type != "event_msg/turn_aborted" || IsString(rec, FieldReason))
	}
	return false
}

// wholeParts says whether every part of an output that is a list has its content, and not only its type.
func wholeParts(output []byte) bool {
	if output[0] != '[' {
		return true
	}
	whole := true
	gjson.ParseBytes(output).ForEach(func(_, part gjson.Result) bool {
		content := 0
		part.ForEach(func(key, _ gjson.Result) bool {
			if key.Str != "type" && key.Str != "detail" {
				content++
			}
			return true
		})
		whole = content > 0 && part.Get("type").Str != ""
		return whole
	})
	return whole
}

// textKey stands before the words of a part of a content.
var textKey = []byte(`"text":`)

// TextCut says whether offset at lies in an output's text or in a message's content.
func (Decoder) TextCut(rec *session.Record, at int) bool {
	field := -1
	switch rec.Type {
	case "response_item/function_call_output", "response_item/custom_tool_call_output":
		if !IsString(rec, FieldCallID) {
			return false
		}
		field = FieldOutput
	case "response_item/message":
		if !IsString(rec, FieldRole) {
			return false
		}
		field = FieldContent
	default:
		return false
	}
	span := rec.Spans[field]
	if at < span.Start || at >= span.End {
		return false
	}
	// Inside an array only the words themselves may be cut, not an image's data or a type's name.
	if raw := Field(rec, field); raw[0] == '[' {
		head := rec.Raw[span.Start:at]
		text, image := bytes.LastIndex(head, textKey), bytes.LastIndex(head, []byte(`_url":`))
		return text > image && text > bytes.LastIndex(head, []byte(`"type":`))
	}
	return true
}
