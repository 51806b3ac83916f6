package codex

import (
	"strconv"
	"strings"
	"time"
)

// What clients from 0.148 on log of a call, in a terminal or as a server, each in a row of its own: that an item of some type
// came; what the call asks (up to 0.155.1); and, when its tool is done, the call's id and how long it took (measured with
// 0.148.0 to 0.169.0).
const (
	logItem  = `: Output item item_type="`
	logAsks  = ": ToolCall: "
	logDone  = `: tool call completed event.name="codex.tool_call" `
	logInRun = ":run_sampling_request{turn_id="
)

// LoggedCall is what a row of a client's log shows of a call.
type LoggedCall struct {
	Turn  string        // id of the turn in which it was made
	Type  string        // payload type of the next call, in a row that holds nothing else
	Tool  string        // its name, in the other rows
	Input string        // what it asks
	ID    string        // its call_id, in a row about its end
	Took  time.Duration // with ID
}

// CallFromLog reads what a row of a thread shows of a call; ok is false if the row is about something else.
func CallFromLog(thread, row string) (c LoggedCall, ok bool) {
	for _, told := range []struct {
		mark string
		read func(c *LoggedCall, rest string) bool
	}{
		{logItem, func(c *LoggedCall, rest string) (ok bool) {
			c.Type, _, ok = strings.Cut(rest, `"`)
			return ok
		}},
		{logAsks, func(c *LoggedCall, rest string) (ok bool) {
			rest, whole := strings.CutSuffix(rest, " thread_id="+thread)
			c.Tool, c.Input, ok = strings.Cut(rest, " ")
			return ok && whole
		}},
		{logDone, func(c *LoggedCall, rest string) bool {
			c.Tool, c.ID = valueIn(rest, " tool_name="), valueIn(rest, " call_id=")
			ms, err := strconv.Atoi(valueIn(rest, " total_duration_ms="))
			c.Took = time.Duration(ms) * time.Millisecond
			return c.Tool != "" && c.ID != "" && err == nil
		}},
	} {
		spans, rest, is := strings.Cut(row, told.mark)
		if !is {
			continue
		}
		_, turn, run := strings.Cut(spans, logInRun)
		c.Turn, _, _ = strings.Cut(turn, " ")
		return c, told.read(&c, rest) && run && strings.HasPrefix(spans, logThread+thread+"}")
	}
	return c, false
}

// valueIn is the value of a member in a row of the log, "" if it is absent.
func valueIn(row, member string) string {
	_, value, _ := strings.Cut(row, member)
	value, _, _ = strings.Cut(value, " ")
	return value
}

// CallRecord writes the record of a logged call; nil if the log never shows calls of this type whole.
func CallRecord(at time.Time, kind, id, tool, input string) []byte {
	switch stamp := at.UTC().Format(TimeForm); kind {
	case "custom_tool_call":
		return newCustomCall(stamp, id, tool, input)
	case "function_call":
		return newFunctionCall(stamp, id, "", tool, input)
	}
	return nil
}
