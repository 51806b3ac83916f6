package claude

import (
	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/finding"
)

// unfinished reports a call at the end that was cut off.
func (c *Checker) unfinished(n *node) {
	if c.opts.Live {
		return
	}
	c.add(&draft{about: n, Finding: finding.Finding{Rule: faults.UnfinishedCall, Impact: finding.Notes, Message: "the call was not answered: the client was stopped while it ran"}})
}

// closeCall writes an output for a call with which the session ends. Clients up to 2.1.215 drop the call otherwise, and the
// oldest send it without an output, and so does a prompt that comes after it. It returns the output. The outputs of its answer are chained, because some clients follow one path only.
func (c *Checker) closeCall(n *node, id string) *node {
	d := c.add(&draft{about: n, Finding: finding.Finding{
		Rule: faults.UnfinishedCall, Impact: finding.Loses, Fix: finding.StandIn, Lost: 1,
		Message: "the call was not answered: the client was stopped while it ran, and versions up to 2.1.215 drop the call without a word",
	}})
	if !c.middleTarget() {
		d.Message = "the call was not answered: the client was stopped while it ran, and a prompt was waiting for its end"
	}
	if format.Before(c.readers()[0], "1.0.0") {
		d.Impact, d.Message = finding.Rejects, "the call was not answered: the client was stopped while it ran, and sends the call without an output"
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
	m.new.Parent, m.new.When = m.up.UUID, c.afterAll() // old clients begin at the latest record
	m.When = m.new.When
	m.edit.in.Edits[m.edit.at].New.Literal = m.new.JSON(c.beside)
	return m
}

// waitBehind gives a prompt that hist has restored a time behind that of the output after which it comes.
func (c *Checker) waitBehind(prompt, output *node) {
	if output.When == 0 || prompt.When > output.When {
		return
	}
	prompt.new.When = c.afterAll()
	prompt.When = prompt.new.When
	prompt.edit.in.Edits[prompt.edit.at].New.Literal = prompt.new.JSON(c.beside)
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
	var above map[*node]bool // what the chain began under
	for _, r := range outputs {
		if above == nil {
			above = map[*node]bool{}
			for m := up; m != nil && !above[m]; m = m.up {
				above[m] = true
			}
		}
		if above[r] {
			continue // the output is above that call: the client wrote it first
		}
		if r.up != up {
			c.hang(r, up, d)
		}
		if up, above[r] = r, true; r.index > end.index {
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
