package codex

import (
	"bytes"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/session"
)

// Complete says whether a closed record has every member the client requires of its kind, as far as a record cut
// short is worth keeping: model history and the ends of turns.
func (Decoder) Complete(rec *session.Record) bool {
	if from := gjson.GetBytes(rec.Raw, "metadata.retained_source"); from.Exists() && !from.Get("complete").Exists() {
		return false
	}
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
	case "event_msg/agent_message":
		return IsString(rec, FieldMessage)
	case "event_msg/exec_command_end":
		return IsString(rec, FieldCallID) && IsString(rec, FieldAggregated)
	case "event_msg/patch_apply_end":
		return IsString(rec, FieldCallID) && gjson.GetBytes(rec.Raw, "payload.stdout").Type == gjson.String
	case "event_msg/item_completed":
		return completeItem(rec)
	}
	return false
}

// completeItem says whether an event that was cut off after its item's content still shows that content: such events are the
// longest records, and may be the only copy.
func completeItem(rec *session.Record) bool {
	if !IsString(rec, FieldTurnID) || !IsString(rec, FieldItemID) {
		return false
	}
	switch item := gjson.GetBytes(rec.Raw, "payload.item"); item.Get("type").String() {
	case "AgentMessage":
		return IsString(rec, FieldItemText)
	case "CommandExecution":
		return item.Get("command").IsArray() && (IsString(rec, FieldItemOutput) || item.Get("stdout").Type == gjson.String)
	case "FileChange":
		return item.Get("changes").IsObject() && item.Get("status").Exists()
	case "McpToolCall":
		return item.Get("arguments").Exists() && item.Get("result").IsObject()
	}
	return false
}

// wholeParts says whether every part of an output that is a list has its content, not only its type.
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

// textKey comes before the words of a part of a content.
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
	case "event_msg/agent_message":
		field = FieldMessage
	case "event_msg/exec_command_end":
		field = FieldAggregated
	case "event_msg/item_completed":
		switch string(Text(rec, FieldItemType)) {
		case "AgentMessage":
			field = FieldItemText
		case "CommandExecution":
			if field = FieldItemOutput; !IsString(rec, FieldItemOutput) {
				return inStdout(rec, at)
			}
		default:
			return false
		}
	default:
		return false
	}
	span := rec.Spans[field]
	if at < span.Start || at >= span.End || field != FieldOutput && nothingOf(rec.Raw[span.Start:at]) {
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

// nothingOf says whether of a text that was cut there is nothing to be read: no message is made of a mark alone. An output is, for it
// answers its call.
func nothingOf(head []byte) bool {
	if at := bytes.LastIndex(head, textKey); head[0] == '[' && at >= 0 {
		head = bytes.TrimLeft(head[at+len(textKey):], " ")
	}
	return len(bytes.ToValidUTF8(bytes.TrimPrefix(head, []byte{'"'}), nil)) == 0
}

// inStdout says whether an offset is in a command's standard output: the client writes that before the same text together with
// standard error.
func inStdout(rec *session.Record, at int) bool {
	out := gjson.GetBytes(rec.Raw, "payload.item.stdout")
	return out.Type == gjson.String && out.Index < at && at < out.Index+len(out.Raw)
}

// Shorten closes a compaction that was cut off after its message, without the history that it holds: the client then keeps the
// prompts before it and sends the message after them, as it does for compactions from before 0.59 (measured with 0.79.0 to
// 0.169.0). A remote compaction can't be closed: it has no message, and its history is nowhere else.
//
// Clients from 0.160 on write, after an item's payload, where it came from. That may be missing, but if only a part of it is
// there, they drop the whole record (measured with 0.160.0); so it is removed.
func (Decoder) Shorten(raw []byte, last bool) []byte {
	if at := bytes.LastIndex(raw, retainedKey); at >= 0 {
		return append(bytes.Clone(raw[:at]), '}')
	}
	const maxHead = 256 // bytes in front of the payload
	if last || !bytes.Contains(raw[:min(len(raw), maxHead)], compactedType) {
		return nil
	}
	at := bytes.Index(raw, replacementKey)
	if at < 0 {
		return nil
	}
	closed := append(bytes.Clone(raw[:at]), "}}"...)
	if len(gjson.GetBytes(closed, "payload.message").Str) == 0 {
		return nil
	}
	return closed
}

var (
	compactedType  = []byte(`"type":"compacted"`)
	replacementKey = []byte(`,"replacement_history":`)
	retainedKey    = []byte(`,"metadata":{"retained_source":`)
)
