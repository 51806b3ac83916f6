package rules

import (
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
	counted bool          // tokens have been counted behind an output: a later answer may have been
	placed  *Edit         // where the last output that was missing has been put

	answers int           // outputs that have come
	first   int           // the calls before this place have an output
	newest  []session.Pos // by place: the newest of the outputs before it; made when the group has ended

	one [2]session.Pos // room for a call and its output: most answers make one call
}

// newCallGroup begins a group without a call.
func newCallGroup() *callGroup {
	g := &callGroup{}
	g.calls, g.outputs = g.one[:0:1], g.one[1:1:2]
	return g
}

func (g *callGroup) last() session.Pos { return g.calls[len(g.calls)-1] }

// unanswered is the first call of the group that has no output yet, zero if there is none.
func (g *callGroup) unanswered() session.Pos {
	for g.first < len(g.calls) && g.outputs[g.first].Line > 0 {
		g.first++
	}
	if g.first == len(g.calls) {
		return session.Pos{}
	}
	return g.calls[g.first]
}

// answer notes the output of the call at a place.
func (g *callGroup) answer(place int, at session.Pos) {
	g.outputs[place] = at
	g.answers++
}

// anchor is the record behind which the output at a place belongs.
func (g *callGroup) anchor(place int) session.Pos {
	if len(g.newest) < len(g.outputs) {
		g.newest = g.newest[:0]
		at := g.last()
		for _, out := range g.outputs {
			g.newest = append(g.newest, at)
			if at.Less(out) {
				at = out
			}
		}
	}
	return g.newest[place]
}

func (g *callGroup) answered() bool { return g.answers > 0 }

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
		c.group.counted = c.group.counted || c.group.answered()
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
