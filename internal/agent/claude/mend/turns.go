package mend

import (
	"fmt"
	"slices"

	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/finding"
)

// lastTurn reports that the session ends in the middle of a turn.
func (c *Checker) lastTurn() {
	if c.opts.Live || c.opts.SubAgent {
		return
	}
	last := c.tipOf(c.leaf)
	for last != nil && !last.Over && (!last.Sent() || last.Filler || last.Meta || last.dropped != nil) {
		last = last.up
	}
	if last != nil && last.Over {
		return // the client itself says how the turn ended
	}
	if last == nil || last.new != nil || slices.ContainsFunc(c.found, func(d *draft) bool { return d.Rule == faults.UnfinishedCall }) {
		return // the finding about an unfinished call says as much
	}
	note := func(rule *finding.Rule, message string) {
		c.find(last, rule, message)
	}
	switch {
	case last.IsPrompt() && !last.AsksNothing:
		note(check.UnansweredPrompt, "the last prompt got no answer")
	case last.Role == content.RoleResult && c.answersForm(last): // that was the answer
	case last.Role == content.RoleResult && !last.Denied && !format.Before(last.Version, "1.0.128"): // older ones do not record an error here either
		note(faults.CutTurn, "the last turn stopped between a tool's output and the model's next answer")
	case last.Role == content.RoleAssistant && last.Stop == "" && len(last.IDs(content.BlockCall)) == 0 && !format.Before(last.Version, "2.1.100") && format.Before(last.Version, "2.1.216"):
		note(faults.CutTurn, "the last answer was cut off in the middle: the client took what had come for all of it")
	}
}

// answersForm says whether a result is of the call by which the model gives an answer in the form that the user has asked for: with
// --json-schema a turn ends so (2.1.332, measured).
func (c *Checker) answersForm(result *node) bool {
	call := c.callOf(result)
	return call != nil && slices.ContainsFunc(call.Blocks, func(b content.Block) bool { return b.Kind == content.BlockCall && b.Name == "StructuredOutput" })
}

// reachable reports how much of the session the client sends, if damage has made that less.
func (c *Checker) reachable() {
	if c.opts.Branch != "" {
		return // what is left out is left out on purpose
	}
	damaged := false
	for _, d := range c.found {
		damaged = damaged || d.Impact >= finding.Loses && (d.Rule.Family == "chain" || d.Rule.Family == "lost")
	}
	if s := c.Summary; damaged && s.Reached < s.Holding {
		c.find(c.nodes[0], faults.Reachable, fmt.Sprintf("the client sends %d of the %d records that hold content", s.Reached, s.Holding))
	}
}

// unfinished reports a call at the end that was cut off.
func (c *Checker) unfinished(n *node) {
	if c.opts.Live {
		return
	}
	c.add(&draft{about: n, Finding: finding.Finding{Rule: faults.UnfinishedCall, Impact: finding.Notes, Message: "the call was not answered: the client was stopped while it ran"}})
}

// closeCall writes an output for a call with which the session ends. Clients up to 2.1.215 drop the call otherwise, and the
// oldest send it without an output, and so does a prompt that comes after it. It returns the output, nil if the finding is only counted. The outputs of its answer are chained, because some clients follow one path only.
func (c *Checker) closeCall(n *node, id string) *node {
	d := c.find(n, faults.UnfinishedCall, "the call was not answered: the client was stopped while it ran, and versions up to 2.1.215 drop the call without a word")
	d.Lost = 1
	if !c.middleTarget() {
		d.Message = "the call was not answered: the client was stopped while it ran, and a prompt was waiting for its end"
	}
	if format.Before(c.oldestReader(), "1.0.0") {
		d.Impact, d.Message = finding.Rejects, "the call was not answered: the client was stopped while it ran, and sends the call without an output"
	}
	if c.isOnlyCounted(d) {
		return nil
	}
	end, up := c.closed.end, c.closed.up
	if c.closed.of != n || n.Msg == "" {
		end, up = c.chained(c.lastSpoken(), d) // of the same answer: see endsWith
	}
	m := c.insertResult(d, n, id, format.NewID("result", n.UUID, id), end, finding.After)
	if up != n {
		c.hang(m, up, d)
	}
	c.closed = closed{n, end, m}
	m.new.Parent = m.up.UUID
	c.atEnd(m) // old clients begin at the latest record
	return m
}

// waitBehind gives a prompt that hist has restored, and those that waited behind it, a time behind that of the output after which they come.
func (c *Checker) waitBehind(prompt, output *node) {
	if output.When == 0 || prompt.When > output.When {
		return
	}
	for ; prompt != nil && prompt.new != nil; prompt = prompt.first {
		c.atEnd(prompt)
	}
}

// atEnd gives a record that hist wrote a time later than all others.
func (c *Checker) atEnd(n *node) {
	n.new.When = c.afterAll()
	n.When = n.new.When
	n.edit.in.Edits[n.edit.at].New.Literal = n.new.JSON(c.beside)
}

// closed is a record with calls, of which some have been closed: its other calls are closed behind them.
type closed struct {
	of, end, up *node // end and up are those that chained returns
}

// chained chains the outputs of the answer that a call belongs to. It returns the last record in the file, of the answer and its
// outputs, and the last one of the chain.
func (c *Checker) chained(call *node, d *draft) (end, up *node) {
	last, outputs := c.answerOf(call)
	end, up = last, last
	above := map[*node]bool{} // up and what it hangs on
	for m := last; m != nil; m = m.up {
		above[m] = true
	}
	for _, r := range outputs {
		if above[r] {
			continue // the output is above that call: the client wrote it first
		}
		if r.up != up {
			c.hang(r, up, d)
		}
		above[r] = true
		if up = r; r.index > end.index {
			end = r
		}
	}
	return end, up
}

// endsWith says whether the session ends with the answer that a call belongs to: nothing else was said after it.
func (c *Checker) endsWith(n *node) bool {
	last := c.lastSpoken()
	return last == n || last != nil && last.Role == content.RoleAssistant && last.Msg == n.Msg && n.Msg != ""
}

// lastSpoken is the last message that is not an output, nil if there is none.
func (c *Checker) lastSpoken() *node {
	if c.lastSaid == nil {
		for _, m := range c.nodes {
			if !m.Side && m.HasMessage() && m.Role != content.RoleResult {
				c.lastSaid = m
			}
		}
	}
	return c.lastSaid
}

// AnswerOf is the last call of the answer that a call belongs to, and the outputs of that answer's calls: first those in the
// file, then those that hist added.
func (c *Checker) answerOf(n *node) (last *node, outputs []*node) {
	first := n
	for i := n.index - 1; n.Msg != "" && i >= 0 && i > n.index-maxSiblings; i-- {
		if m := c.nodes[i]; m.Role == content.RoleAssistant && m.Msg == n.Msg {
			first = m
		}
	}
	if n.Msg == "" {
		return n, nil
	}
	calls, results := c.parallel(first)
	for _, own := range []bool{false, true} {
		for _, r := range results {
			if (r.new != nil) == own {
				outputs = append(outputs, r)
			}
		}
	}
	return calls[len(calls)-1], outputs
}

// afterAll is a time later than that of every message, in milliseconds since 1970.
func (c *Checker) afterAll() int64 {
	if c.newest == 0 {
		for _, n := range c.all() {
			if n.Sent() && !n.Side {
				c.newest = max(c.newest, n.When)
			}
		}
	}
	c.newest++
	return c.newest
}
