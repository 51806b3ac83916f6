package codex

import (
	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/session"
)

// Tells is what a record of kind session.Evidence tells a second time.
type Tells uint8

// What events tell.
const (
	TellsOutput Tells = 1 << iota // a call's output
	TellsCall                     // a call's tool and arguments
	TellsUser                     // a prompt
	TellsAgent                    // an answer
)

// Evidence says what the record tells, and in which words its source is named in a report.
func Evidence(rec *session.Record) (Tells, string) {
	switch rec.Type {
	case "event_msg/user_message":
		return TellsUser, "user_message"
	case "event_msg/agent_message":
		return TellsAgent, "agent_message"
	case "event_msg/exec_command_end":
		return TellsOutput | TellsCall, "exec_command_end"
	case "event_msg/mcp_tool_call_end":
		return TellsOutput | TellsCall, "mcp_tool_call_end"
	case "event_msg/patch_apply_end":
		return TellsOutput | withChanges(rec, "payload.changes"), "patch_apply_end"
	case "event_msg/dynamic_tool_call_response":
		return TellsOutput | TellsCall, "dynamic_tool_call_response"
	case "event_msg/item_completed":
		item := string(Text(rec, FieldItemType))
		return itemTells(rec, item), "item_completed " + item
	}
	return 0, ""
}

func itemTells(rec *session.Record, item string) Tells {
	switch item {
	case "UserMessage":
		return TellsUser
	case "AgentMessage":
		return TellsAgent
	case "CommandExecution":
		if gjson.GetBytes(rec.Raw, "payload.item.status").String() == "in_progress" {
			return TellsCall
		}
		if gjson.GetBytes(rec.Raw, "payload.item.aggregated_output").Type == gjson.String {
			return TellsOutput | TellsCall
		}
		return TellsCall
	case "McpToolCall", "DynamicToolCall":
		if gjson.GetBytes(rec.Raw, "payload.item.status").String() == "inProgress" {
			return TellsCall
		}
		return TellsOutput | TellsCall
	case "FileChange":
		if gjson.GetBytes(rec.Raw, "payload.item.status").String() == "in_progress" {
			return withChanges(rec, "payload.item.changes")
		}
		return TellsOutput | withChanges(rec, "payload.item.changes")
	case "FunctionCallOutput":
		return TellsOutput
	}
	return 0
}

func withChanges(rec *session.Record, path string) Tells {
	if gjson.GetBytes(rec.Raw, path).IsObject() {
		return TellsCall
	}
	return 0
}

// Proof returns the text a tool's output must end with if the event tells the truth about it, "" if it tells none.
func Proof(rec *session.Record) string {
	path := "payload.aggregated_output"
	if rec.Type == "event_msg/item_completed" {
		path = "payload.item.aggregated_output"
	}
	return gjson.GetBytes(rec.Raw, path).String()
}

// CallOf reads the tool of a call record.
func CallOf(rec *session.Record) Tool {
	return Tool{Type: string(Text(rec, FieldPayloadType)), Name: string(Text(rec, FieldName)), CallID: string(rec.CallID)}
}

// KeptOutput returns the output item for a call inside a compaction's replacement history, as a record of its own.
func KeptOutput(compacted []byte, callID string) []byte {
	var found []byte
	stamp := gjson.GetBytes(compacted, "timestamp").String()
	gjson.GetBytes(compacted, "payload.replacement_history").ForEach(func(_, item gjson.Result) bool {
		if item.Get("call_id").String() == callID && item.Get("output").Exists() {
			found = record(stamp, nil, "response_item", rawJSON(item.Raw))
			return false
		}
		return true
	})
	return found
}

// Note writes a message to the model that keeps the text of an output whose call is gone.
func Note(rec []byte) []byte {
	output := gjson.GetBytes(rec, "payload.output")
	text := output.String()
	if output.IsArray() {
		text = output.Get("#.text").String()
	}
	return newMessage(gjson.GetBytes(rec, "timestamp").String(), "user", "",
		[]part{{Type: "input_text", Text: "[hist: the tool call that this output answered was lost from the session]\n" + text}})
}
