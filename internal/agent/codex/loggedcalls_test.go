package codex

import (
	"testing"
	"time"
)

// TestCallFromLog reads what rows of a client's log tell of calls, and nothing out of others.
func TestCallFromLog(t *testing.T) {
	const spans = `session_loop{thread_id=T1}:turn{turn.id=turn-1}:run_turn:run_sampling_request{turn_id=turn-1 model=m cwd=/a: b}`
	const done = `: tool call completed event.name="codex.tool_call" trace_id= turn_id=turn-1 tool_name=exec call_id=call_1 tool_source="direct"`
	for _, c := range []struct {
		name, row string
		want      LoggedCall
		ok        bool
	}{
		{"an item", spans + `: Output item item_type="custom_tool_call" item_id="ctc_1"`, LoggedCall{Turn: "turn-1", Type: "custom_tool_call"}, true},
		{"a call", spans + `:handle: ToolCall: exec text("a b");` + "\n" + ` thread_id=T1`, LoggedCall{Turn: "turn-1", Tool: "exec", Input: "text(\"a b\");\n"}, true},
		{"its end", spans + done + ` total_duration_ms=496`, LoggedCall{Turn: "turn-1", Tool: "exec", ID: "call_1", Took: 496 * time.Millisecond}, true},
		{"an end without its time", spans + done, LoggedCall{}, false},
		{"a call that is cut", spans + `: ToolCall: exec text(`, LoggedCall{}, false},
		{"a call outside of a turn", `session_loop{thread_id=T1}: ToolCall: exec a thread_id=T1`, LoggedCall{}, false},
		{"another thread", `session_loop{thread_id=T2}:run_sampling_request{turn_id=turn-1 model=m}: ToolCall: exec a thread_id=T1`, LoggedCall{}, false},
		{"something else", spans + `: Request completed`, LoggedCall{}, false},
	} {
		got, ok := CallFromLog("T1", c.row)
		if ok != c.ok || ok && got != c.want {
			t.Errorf("%s: %+v, %v; want %+v, %v", c.name, got, ok, c.want, c.ok)
		}
	}
}
