package rules

import (
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/session"
)

// callGroup is the calls of one answer of the model. The client runs them together and, before the model's next answer,
// writes their outputs in the order of the calls. A call's index in the group is called its place.
type callGroup struct {
	calls   []session.Pos
	outputs []session.Pos // by place; zero for an output that has not come
	end     session.Pos   // the record that closed the group; zero while it is open
	sampled bool          // the answer that made these calls is complete, so a further call belongs to another one
	over    bool          // a later answer is complete
	counted bool          // tokens have been counted behind an output, so a later answer may be complete
	placed  *finding.Edit // the edit that inserts the output which was last found missing

	answers int           // how many outputs have come
	first   int           // all calls before this place have an output
	newest  []session.Pos // by place: the last record of the calls, and of the outputs before the place; made when the group has ended

	one [2]session.Pos // room for a call and its output, because most answers make only one call
}

// begin makes a new group ready for its first call.
func (g *callGroup) begin() *callGroup {
	g.calls, g.outputs = g.one[:0:1], g.one[1:1:2]
	return g
}

func (g *callGroup) last() session.Pos { return g.calls[len(g.calls)-1] }

// unanswered is the first call that has no output yet, zero if there is none.
func (g *callGroup) unanswered() session.Pos {
	for g.first < len(g.calls) && g.outputs[g.first].Line > 0 {
		g.first++
	}
	if g.first == len(g.calls) {
		return session.Pos{}
	}
	return g.calls[g.first]
}

// answer notes that the call at a place has its output.
func (g *callGroup) answer(place int, at session.Pos) {
	g.outputs[place] = at
	g.answers++
}

// anchor is the record behind which the output at a place is to be inserted.
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

// sampled takes a record with which the client counts an answer's tokens or begins its next request. All calls of one
// answer come before that.
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

// endAnswer ends what the model answered: it has answered once more, or the turn is over.
func (c *callChecker) endAnswer(at session.Pos) {
	c.closeGroup(at)
	c.settleNamesakes()
}

// closeGroup ends the current group of calls.
func (c *callChecker) closeGroup(at session.Pos) {
	if c.group != nil {
		c.group.end = at
		c.group = nil
	}
}
