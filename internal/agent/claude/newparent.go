package claude

import (
	"cmp"
	"slices"

	"github.com/hist-cli/hist/internal/finding"
)

// before is the most likely parent of a record that has none: an earlier record of the same answer, or the call that it
// answers, else the last record of the conversation before it in the file; nil if it is above all of them.
func (c *Checker) before(n *node) *node {
	if p := c.callOf(n); p != nil && !rooted(p, n) {
		if end, whole := c.chainEnd(p, n.index); n.chains() && n.source == "" && whole && !rooted(end, n) {
			return end
		}
		return p
	}
	last := c.notLater(n, n.ahead())
	if n.msg == "" {
		return last
	}
	if c.answeredByAnother(n, last) && !rooted(last.up, n) {
		last = cmp.Or(unanswered(last), last.up)
	}
	for m, steps := last, 0; m != nil && steps < maxSiblings; m, steps = m.front, steps+1 {
		switch {
		case rooted(m, n):
		case m.msg == n.msg:
			return m
		case m.sent():
			return last
		}
	}
	return last
}

// notLater is the last record in front of one that is no younger than it, if the records behind that are of another branch: two
// clients write in turns. Else it is the last record in front, as it is given.
func (c *Checker) notLater(n, last *node) *node {
	if last == nil || n.when == 0 || last.when <= n.when+writeTime {
		return last
	}
	before := last
	for steps := 0; before != nil && before.when > n.when+writeTime; before = before.front {
		if steps++; steps == maxSiblings {
			return last
		}
	}
	if before == nil || before.when == 0 || rooted(before, n) {
		return last
	}
	for p, steps := last, 0; p != nil && p.index >= before.index; p, steps = p.up, steps+1 {
		if p == before || steps == maxSiblings {
			return last
		}
	}
	return before
}

// answeredByAnother says whether a prompt has an answer, but not the one that is given: with that, it would be sent instead of the
// prompt's own.
func (c *Checker) answeredByAnother(answer, prompt *node) bool {
	if prompt == nil || prompt.up == nil || !prompt.isPrompt() || prompt.index > answer.index {
		return false
	}
	if !c.linked { // what hangs on it is not known yet
		for _, m := range c.nodes[answer.index+1 : min(len(c.nodes), answer.index+maxSiblings)] {
			if m.up == prompt && m.role == roleAssistant && m.sent() && !m.filler && m.msg != "" && m.msg != answer.msg {
				return true
			}
		}
		return false
	}
	for m, steps := prompt.first, 0; m != nil && steps < maxSiblings; m, steps = m.latter, steps+1 {
		if m.index > answer.index && m.role == roleAssistant && m.sent() && !m.filler && m.msg != "" && m.msg != answer.msg {
			return true
		}
	}
	return false
}

// unanswered is the prompt that hangs beside another in front of it, and that nothing follows; nil if there is none: two clients ask
// at once, and one's answer is lost.
func unanswered(beside *node) *node {
	for m, steps := beside.former, 0; m != nil && steps < maxSiblings; m, steps = m.former, steps+1 {
		if m.isPrompt() && m.first == nil && m.dropped == nil && m.index < beside.index {
			return m
		}
	}
	return nil
}

// writeTime is by how many milliseconds the times of records may differ from the order in which a client writes them.
const writeTime = 1000

// callOf is the record with the call that a record answers, nil if it answers none.
func (c *Checker) callOf(n *node) *node {
	if n.role != roleResult {
		return nil
	}
	ids := n.ids(blockResult)
	for i := n.index - 1; i >= 0 && i > n.index-maxSiblings; i-- {
		m := c.nodes[i]
		if m.role == roleAssistant && !m.side && slices.ContainsFunc(m.ids(blockCall), func(id string) bool { return slices.Contains(ids, id) }) {
			return m
		}
	}
	return nil
}

// healTime is how many milliseconds before a record whose parent is missing another one may have been written for clients
// from 2.1.100 on to take it as the parent (measured: 4.9 s yes, 5.1 s no).
const healTime = 5000

// healed is the parent that clients from 2.1.100 on choose for a record whose own is missing: the newest record of the
// time before it. It is nil if there is none, or if there are two of the same millisecond.
func (c *Checker) healed(n *node) *node {
	if n.when == 0 {
		return nil
	}
	var best *node
	times := c.times()
	until, _ := slices.BinarySearchFunc(times, n.when+1, func(m *node, when int64) int { return cmp.Compare(m.when, when) })
	for i := until - 1; i >= max(0, until-maxSiblings) && times[i].when >= n.when-healTime; i-- {
		m := times[i]
		switch {
		case rooted(m, n):
		case best == nil:
			best = m
		case m.when == best.when:
			return nil
		default:
			return best
		}
	}
	return best
}

// impactOf is what clients do with a record whose parent is missing and should be p. Those that note the conversation's
// end begin there, so if that is before the gap only what comes before the gap is sent, whatever the times are (measured
// with 2.1.120 to 2.1.330).
func (c *Checker) impactOf(n, p *node) finding.Impact {
	if c.healed(n) != p || c.behindEnd(n) {
		return finding.Loses
	}
	return c.worst(oldAndNewer(finding.Loses, finding.Notes))
}

// behindEnd says whether a record comes after the one that the client has noted as the conversation's end.
func (c *Checker) behindEnd(n *node) bool {
	end := c.ids.get(c.leaf)
	return end != nil && end.index < n.index
}
