package codex

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/session"
)

// Tells says what a record of kind session.Evidence repeats.
type Tells uint8

// What events repeat, as bits.
const (
	TellsOutput  Tells = 1 << iota // a call's output
	TellsCall                      // a call's tool and arguments
	TellsUser                      // a prompt
	TellsAgent                     // an answer
	TellsThought                   // the summary of a thought
)

// Tokens reads a count of tokens: the sum of the session so far, and what the newest answer took of it; 0 if it does not say.
func Tokens(count *session.Record) (total, took int64) {
	return usage(count.Raw, "total_token_usage"), usage(count.Raw, "last_token_usage")
}

// usage is the sum of tokens in the object with a key; 0 if it is not there. Sessions that have no ordinals hold a count for each answer,
// so it is looked for as clients write it; only if other programs have rewritten the session, the whole record is read.
func usage(raw []byte, key string) int64 {
	if at := bytes.Index(raw, []byte(key+`":{`)); at >= 0 {
		return gjson.GetBytes(raw[at+len(key)+len(`":`):], "total_tokens").Int()
	}
	return gjson.GetBytes(raw, "payload.info."+key+".total_tokens").Int()
}

// Evidence says what a record repeats, and how a report names it as a source.
func Evidence(rec *session.Record) (Tells, string) {
	if rec.Kind != session.Evidence {
		return 0, ""
	}
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
		return itemTells(rec)
	case "event_msg/agent_reasoning":
		return TellsThought, "agent_reasoning"
	}
	return 0, ""
}

// Repeats says whether a record repeats one of these.
func Repeats(rec *session.Record, these Tells) bool {
	tells, _ := Evidence(rec)
	return tells&these != 0
}

func itemTells(rec *session.Record) (Tells, string) {
	item := toldItems.of(rec, FieldItemType)
	if item == nil {
		return 0, ""
	}
	tells := item.tells
	switch item.by {
	case theCommand:
		tells |= finished(rec, IsString(rec, FieldItemOutput) || rec.Torn)
	case theTool:
		tells |= finished(rec, true)
	case theChanges:
		tells |= finished(rec, true) | withChanges(rec, "payload.item.changes")
	}
	return tells, item.name
}

// toldItem is what an event that shows an item of some kind repeats.
type toldItem struct {
	name  string
	tells Tells
	by    teller
}

// teller is what else it tells, if it is finished.
type teller uint8

const (
	nothingElse teller = iota
	theCommand         // its output, if that is there
	theTool            // its output
	theChanges         // its output, and the call, if its changes are there
)

var toldItems = namesOf(map[string]toldItem{
	"UserMessage":        {"item_completed UserMessage", TellsUser, nothingElse},
	"AgentMessage":       {"item_completed AgentMessage", TellsAgent, nothingElse},
	"CommandExecution":   {"item_completed CommandExecution", TellsCall, theCommand},
	"McpToolCall":        {"item_completed McpToolCall", TellsCall, theTool},
	"DynamicToolCall":    {"item_completed DynamicToolCall", TellsCall, theTool},
	"FileChange":         {"item_completed FileChange", 0, theChanges},
	"FunctionCallOutput": {"item_completed FunctionCallOutput", TellsOutput, nothingElse},
	"Reasoning":          {"item_completed Reasoning", TellsThought, nothingElse},
	"ImageView":          {"item_completed ImageView", TellsCall, nothingElse},
})

// finished is TellsOutput if the item has an output and is complete.
func finished(rec *session.Record, output bool) Tells {
	if !output {
		return 0
	}
	switch string(Text(rec, FieldItemStatus)) {
	case "in_progress", "inProgress":
		return 0
	}
	return TellsOutput
}

func withChanges(rec *session.Record, path string) Tells {
	if gjson.GetBytes(rec.Raw, path).IsObject() {
		return TellsCall
	}
	return 0
}

// Proof returns the text with which a tool's output must end if the event is right about it, as it is between its quotes, and
// its hash; an empty text if the event has none. The client writes both with the same escapes.
func Proof(rec *session.Record) (text []byte, sum uint64) {
	field := proofField(rec)
	return Literal(rec, field), SumOf(rec, field)
}

func proofField(rec *session.Record) int {
	if rec.Type == "event_msg/item_completed" {
		return FieldItemOutput
	}
	return FieldAggregated
}

// toldField is the field of an event that another record repeats.
func toldField(rec *session.Record) int {
	if shown := ShownField(rec); IsString(rec, shown) {
		return shown
	}
	return proofField(rec)
}

// nameIn is the name in a record. For the client's own tools, which most calls are of, no string is allocated.
func nameIn(rec *session.Record) string {
	if own := ownTools.of(rec, FieldName); own != nil {
		return *own
	}
	return string(Text(rec, FieldName))
}

var ownTools = namesOf(map[string]string{
	"exec_command": "exec_command", "write_stdin": "write_stdin", "shell": "shell", "shell_command": "shell_command", "exec": "exec", "wait": "wait",
	"apply_patch": "apply_patch", "update_plan": "update_plan", "view_image": "view_image",
})

// CallWithID reads the tool of a call record, whose call_id the caller has as a string.
func CallWithID(rec *session.Record, id string) Tool {
	return Tool{Type: ItemKind(rec), Name: nameIn(rec), CallID: id}
}

// KeptOutput returns the output item for a call inside a compaction's replacement history, as a record of its own.
func KeptOutput(compacted []byte, tool Tool) []byte {
	var found []byte
	stamp := gjson.GetBytes(compacted, "timestamp").String()
	gjson.GetBytes(compacted, "payload.replacement_history").ForEach(func(_, item gjson.Result) bool {
		if item.Get("call_id").String() == tool.CallID && HoldsOutput(item) {
			found = record(stamp, nil, "response_item", json.RawMessage(item.Raw))
			if kind, want := item.Get("type").Str, OutputType(tool.Type); kind != want { // it may be damaged there
				cut := session.SetMember(found, "payload", "type", []byte(`"`+want+`"`))
				found, _ = session.Apply(found, []session.Cut{cut}) //nolint:errcheck // one cut collides with no other
			}
			return false
		}
		return true
	})
	return found
}

// HoldsOutput says whether an item of a compacted history is an output.
func HoldsOutput(item gjson.Result) bool {
	return item.Get("output").Exists() && strings.HasSuffix(item.Get("type").String(), "_output") && !item.Get("name").Exists()
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

// ByUser says whether an event is about a command that the user ran, without a call of the model's.
func ByUser(rec *session.Record) bool {
	p := gjson.GetBytes(rec.Raw, "payload")
	source := cmp.Or(p.Get("item.source").String(), p.Get("source").String())
	return source == "user_shell" || source == "userShell"
}

// OutputTypeOf is the payload type of the output of a call that an event repeats: for a patch, that of a custom tool.
func OutputTypeOf(rec *session.Record) string {
	if rec.Type == "event_msg/patch_apply_end" || string(Text(rec, FieldItemType)) == "FileChange" {
		return "custom_tool_call_output"
	}
	return "function_call_output"
}

// CallType is the payload type of the call that an output answers.
func CallType(outputType string) string {
	if outputType == "custom_tool_call_output" {
		return "custom_tool_call"
	}
	return "function_call"
}

// TellsCompaction says whether a record shows, as if the model had said it, that the client has compacted the history: 0.63
// writes such an event after the compaction, without an item (measured; 0.95 writes none).
func TellsCompaction(rec *session.Record) bool {
	return rec.Type == "event_msg/agent_message" && string(ShownText(rec)) == `"Compact task completed"`
}
