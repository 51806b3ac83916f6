package codex

import (
	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/session"
)

// A command of exec_command that runs longer than its call waits is answered "running", with a number. A call of write_stdin
// with that number asks for what the command has printed since. The event of its end has the call_id of exec_command, the
// number, and everything that the command printed (measured with 0.155.1, 0.160.0 and 0.169.0).
const stdinTool = "write_stdin"

// waitedHead tells the model that an output of write_stdin repeats what it has been told before.
const waitedHead = "What follows is all that the command printed, from its beginning.\n"

// AwaitedProcess is the number of the command that a call of write_stdin asks for, "" if the record is no such call.
func AwaitedProcess(rec *session.Record) string {
	if rec.Type != "response_item/function_call" || string(Literal(rec, FieldName)) != stdinTool {
		return ""
	}
	return gjson.GetBytes(Text(rec, FieldArguments), "session_id").String()
}

// EndedProcess is the number of the command whose end an event shows, "" if it shows none.
func EndedProcess(rec *session.Record) string {
	path := "payload.process_id"
	if rec.Type == "event_msg/item_completed" {
		path = "payload.item.process_id"
	}
	return gjson.GetBytes(rec.Raw, path).String()
}
