package rules

import (
	"slices"

	"github.com/hist-cli/hist/internal/session"
)

// callGroup is the calls of one answer of the model's: the client runs them together and writes their outputs, in
// the order of the calls, before the model's next answer.
type callGroup struct {
	calls   []session.Pos
	outputs []session.Pos // by place; zero while none has come
	end     session.Pos   // what closed the group; zero while it is open
	sampled bool          // the model's answer that made these calls is complete: a further call is another answer's
	over    bool          // a later answer has been completed
	placed  *Edit         // where the last output that was missing has been put
}

func (g *callGroup) last() session.Pos { return g.calls[len(g.calls)-1] }

// unanswered is the first call of the group that has no output yet, zero if there is none.
func (g *callGroup) unanswered() session.Pos {
	for i, out := range g.outputs {
		if out.Line == 0 {
			return g.calls[i]
		}
	}
	return session.Pos{}
}

// anchor is the record behind which the output at a place belongs.
func (g *callGroup) anchor(place int) session.Pos {
	at := g.last()
	for _, out := range g.outputs[:place] {
		if at.Less(out) {
			at = out
		}
	}
	return at
}

func (g *callGroup) answered() bool {
	return slices.ContainsFunc(g.outputs, func(p session.Pos) bool { return p.Line > 0 })
}

// sampled notes that the client has counted an answer's tokens, or begun its next request: the calls of one answer
// stand together before that.
func (c *callChecker) sampled(rec *session.Record) {
	if c.group == nil {
		return
	}
	switch rec.Type {
	case "token_usage_record":
		c.group.over = c.group.over || c.group.answered()
		c.group.sampled = true
	case "event_msg/token_count", "turn_context":
		c.group.sampled = true
	}
}

// closeGroup ends the group of calls in hand: the model has answered, or the turn is over.
func (c *callChecker) closeGroup(at session.Pos) {
	if c.group != nil {
		c.group.end = at
		c.group = nil
	}
}
