package rules

import (
	"strings"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/session"
)

// tornCall is a dead line that begins like a tool call.
type tornCall struct {
	at   session.Pos
	call codex.TornCall
	used bool
}

// maxTornCalls is how many such lines are kept until their outputs are missed.
const maxTornCalls = 64

// tornCall keeps what can be read of a call whose line was cut.
func (c *callChecker) tornCall(rec *session.Record) {
	if rec.Blank || len(c.torn) >= maxTornCalls || len(rec.Raw) > codex.MaxArguments {
		return
	}
	// A name with garbage in it would make a call that the API refuses.
	if call, ok := codex.ReadTornCall(rec.Raw); ok && len(call.Name) <= codex.MaxToolName && codex.InName.All([]byte(call.Name)) {
		c.torn = append(c.torn, &tornCall{at: rec.Pos, call: call})
	}
}

// tornFor finds the torn call that an output without a call answers: by its call_id where that can be read, else
// the newest one of its kind before the output.
func (c *callChecker) tornFor(out *earlyOutput) *tornCall {
	var found *tornCall
	for _, t := range c.torn {
		switch {
		case t.used || codex.OutputType(t.call.Type) != out.kind || out.ref.Pos.Less(t.at):
		case t.call.CallID == out.callID:
			return t
		case t.call.CallID == "", t.call.CutID && strings.HasPrefix(out.callID, t.call.CallID):
			found = t
		}
	}
	return found
}
