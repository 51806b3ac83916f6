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

// isFollowedBy says whether the record with an ordinal is the call's next: between a script's call and its first result the client
// writes only the count of tokens.
func (t *tornCall) isFollowedBy(ordinal int64) bool {
	return t.call.Ordinal > 0 && (ordinal == t.call.Ordinal+1 || ordinal == t.call.Ordinal+2)
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

// tornScript is the torn call of the script whose first result has an ordinal; nil if that is not known, or its output stands in the file.
func (c *callChecker) tornScript(first int64) *tornCall {
	for _, t := range c.torn {
		if t.used || t.call.CallID == "" || t.call.CutID || !codex.IsScript(t.call.Tool()) || !t.isFollowedBy(first) {
			continue
		}
		if !c.known(t.call.CallID) {
			return t
		}
	}
	return nil
}
