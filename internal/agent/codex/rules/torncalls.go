package rules

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/session"
)

// tornCall is a dead line that begins like a tool call.
type tornCall struct {
	at     session.Pos
	offset int64
	call   codex.TornCall
	turn   int64
	used   bool
	tail   bool // it is the end of an event about the call, which the call's output follows
}

// isFollowedBy says whether the record with an ordinal is the call's next: between a script's call and its first result the client
// writes only the count of tokens.
func (t *tornCall) isFollowedBy(ordinal int64) bool {
	return t.call.Ordinal > 0 && (ordinal == t.call.Ordinal+1 || ordinal == t.call.Ordinal+2)
}

// maxTornCalls is how many such lines are kept until their outputs come.
const maxTornCalls = 64

// tornCall keeps what can be read of a call whose line was cut.
func (c *callChecker) tornCall(rec *session.Record) {
	if rec.Blank || len(c.torn) >= maxTornCalls || len(rec.Raw) > codex.MaxArguments {
		return
	}
	if call, ok := codex.ReadTailCall(rec.Raw, c.shell); ok {
		call.Timestamp = cmp.Or(call.Timestamp, gjson.ParseBytes(c.prev).String())
		c.torn = append(c.torn, &tornCall{at: rec.Pos, offset: rec.Offset, call: call, turn: c.turn, tail: true})
		return
	}
	// The API would refuse a call with garbage in its name.
	call, ok := codex.ReadTornCall(rec.Raw)
	if _, wrong := codex.LimitsOfName.WrongText("", call.Name); ok && !wrong {
		c.torn = append(c.torn, &tornCall{at: rec.Pos, offset: rec.Offset, call: call, turn: c.turn})
	}
}

// tornFor finds the torn call that an output without a call answers: by its call_id if that can be read, or else the newest one
// of its kind in front of the output.
func (c *callChecker) tornFor(out *earlyOutput) *tornCall {
	var found *tornCall
	for _, t := range c.torn {
		switch {
		case t.used || codex.OutputType(t.call.Type) != out.kind || out.ref.Pos.Less(t.at), t.tail && out.ref.Pos.Line > t.at.Line+1:
		case t.call.CallID == out.callID:
			return t
		case t.call.CallID == "", t.call.CutID && strings.HasPrefix(out.callID, t.call.CallID):
			found = t
		}
	}
	return found
}

// tornScript is the torn call of the script whose first result has an ordinal; nil if that is not known, or if its output is in
// the file.
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

// tornAlone reports the torn calls to which nothing else belongs. The model is told as much of each as can be read, and that
// its outcome is not known, since it may have run. A call without its call_id is left out if it may be one that is elsewhere in
// the session.
func (c *callChecker) tornAlone() {
	for _, t := range c.torn {
		id := t.call.CallID
		if t.used || id == "" || t.call.CutID || t.call.Input == "" || c.known(id) || c.run.opts.Live && t.turn == c.turn && !c.ended {
			continue
		}
		f := ruleLostPair.At(finding.Ref{Pos: t.at, Offset: t.offset}, "response_item/"+t.call.Type,
			fmt.Sprintf("the call %s (%s) is cut, and has no output: the model does not see that it was made", check.Clip([]byte(id), 40), check.Clip([]byte(t.call.Name), 40)))
		f.Fix, f.Source, f.Lost, f.IDs = finding.StandIn, fmt.Sprintf("the readable part of line %d", t.at.Line), 2, id
		c.run.Report(f.With(
			finding.Edit{At: t.at, Op: finding.Before, New: finding.Content{Literal: t.call.Line(id)}},
			finding.Edit{At: t.at, Op: finding.Before, New: finding.Content{Literal: codex.StandIn(t.call.Tool(), t.call.Timestamp)}},
		))
	}
}
