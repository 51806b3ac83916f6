package claude

import "github.com/hist-cli/hist/internal/finding"

// unfinished notes a call that was cut off.
func (c *Checker) unfinished(n *node) {
	if c.opts.Live {
		return
	}
	c.add(&draft{about: n, Finding: finding.Finding{Rule: ruleUnfinishedCall, Impact: finding.Notes, Message: "the call was not answered: the client was stopped while it ran"}})
}

// closeCall writes an output for a call that the session ends with. Clients up to 2.1.215 drop the call otherwise, and the
// oldest send it as it is. The outputs of its answer are hung behind each other: some clients follow one path only.
func (c *Checker) closeCall(n *node, id string) {
	d := c.add(&draft{about: n, Finding: finding.Finding{
		Rule: ruleUnfinishedCall, Impact: finding.Loses, Fix: finding.StandIn, Lost: 1,
		Message: "the call was not answered: the client was stopped while it ran, and versions up to 2.1.215 drop the call without a word",
	}})
	if before(c.readers()[0], "1.0.0") {
		d.Impact, d.Message = finding.Rejects, "the call was not answered: the client was stopped while it ran, and sends the call without an output"
	}
	last, outputs := c.answerOf(n)
	end := last // the last record in the file of the answer and its outputs
	up := last
	for _, r := range outputs {
		if under(up, r) {
			continue // the client wrote it before that call
		}
		if r.up != up {
			c.hang(r, up, d)
		}
		if up = r; r.index > end.index {
			end = r
		}
	}
	m := c.insertResult(d, n, id, newID("result", n.uuid, id), end, finding.After)
	if up != n {
		c.hang(m, up, d)
	}
	m.new.parent, m.new.when = m.up.uuid, c.afterAll() // old clients begin at the latest
	m.when = m.new.when
	m.edit.in.Edits[m.edit.at].New.Literal = m.new.json(c.beside)
}

// endsWith says whether the session ends with the answer that a call belongs to: nothing else is said behind it.
func (c *Checker) endsWith(n *node) bool {
	last := c.lastSpoken()
	return last == n || last != nil && last.role == roleAssistant && last.msg == n.msg && n.msg != ""
}

// lastSpoken is the last record that is more than an output, nil if there is none.
func (c *Checker) lastSpoken() *node {
	if c.lastSaid == nil {
		for _, m := range c.nodes {
			if !m.side && m.hasMessage() && m.role != roleResult {
				c.lastSaid = m
			}
		}
	}
	return c.lastSaid
}

// answerOf is the last call of the answer that a call belongs to, and the outputs of its calls: those of the file first.
func (c *Checker) answerOf(n *node) (last *node, outputs []*node) {
	first := n
	for i := n.index - 1; n.msg != "" && i >= 0 && i > n.index-maxSiblings; i-- {
		if m := c.nodes[i]; m.role == roleAssistant && m.msg == n.msg {
			first = m
		}
	}
	if n.msg == "" {
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

// afterAll is a time behind those of all messages, in milliseconds since 1970.
func (c *Checker) afterAll() int64 {
	if c.newest == 0 {
		for _, n := range c.all() {
			if n.sent() && !n.side {
				c.newest = max(c.newest, n.when)
			}
		}
	}
	c.newest++
	return c.newest
}
