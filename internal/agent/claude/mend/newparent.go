package mend

import (
	"cmp"
	"slices"

	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/finding"
)

// before is the most likely parent of a record that has none: an earlier record of the same answer, the call
// whose output it is, or else the last record of the conversation in front of it, or, where there is none, the first prompt behind it;
// nil if they all hang on the record itself.
func (c *Checker) before(n *node) *node {
	if p := c.callOf(n); p != nil && !rooted(p, n) {
		if end, whole := c.chainEnd(p, n.index); n.chains() && n.Source == "" && whole && !rooted(end, n) {
			return end
		}
		return p
	}
	last := c.notCompactedLater(n, cmp.Or(c.movedFrom(n), c.notLater(n, n.ahead())))
	if last == nil {
		return c.askedBehind(n)
	}
	if n.Msg == "" {
		return last
	}
	if c.answeredByAnother(n, last) && !rooted(last.up, n) {
		last = last.up
	}
	for m, steps := last, 0; m != nil && steps < maxSiblings; m, steps = m.front, steps+1 {
		switch {
		case rooted(m, n):
		case m.Msg == n.Msg:
			return m
		case m.Sent():
			return cmp.Or(c.partBehind(n, last), last)
		}
	}
	return last
}

// partBehind is an earlier part of the same answer that was moved to behind this one: it hangs on the record that this one would hang
// on. nil if there is none.
func (c *Checker) partBehind(n, up *node) *node {
	for _, m := range c.nodes[n.index+1 : min(len(c.nodes), n.index+maxSiblings)] {
		if m.Role == content.RoleAssistant && m.Msg == n.Msg && !m.Side && m.up == up && m.first == nil && m.When != 0 && m.When <= n.When {
			return m
		}
	}
	return nil
}

// notLater corrects last, the last record in front of n, if it is younger than n because two clients wrote in turns: then it is
// the nearest record in front that is not younger, provided it is on another branch. Otherwise it is last itself.
func (c *Checker) notLater(n, last *node) *node {
	if last == nil || n.When == 0 || last.When <= n.When+writeTime {
		return last
	}
	if n.AsksNothing && last.Summary { // the command that made the compaction, which the client writes behind that
		return last
	}
	before := last
	for steps := 0; before != nil && before.When > n.When+writeTime; before = before.front {
		if steps++; steps == maxSiblings {
			return last
		}
	}
	if before == nil || before.When == 0 || rooted(before, n) {
		return last
	}
	for p, steps := last, 0; p != nil && p.index >= before.index; p, steps = p.up, steps+1 {
		if p == before || steps == maxSiblings {
			return last
		}
	}
	return before
}

// movedFrom is the record behind which another one stood that was moved to between two which hang on each other, though it is younger
// than both; nil if that is not so.
func (c *Checker) movedFrom(n *node) *node {
	next := c.mainNear(n.index+1, 1)
	if next == nil || n.front == nil || next.up != n.front || next.When == 0 || next.When+writeTime >= n.When {
		return nil
	}
	behind := next
	for steps := 0; behind != nil && behind.When <= n.When; steps++ {
		if steps == maxSiblings {
			return nil
		}
		next, behind = behind, c.mainNear(behind.index+1, 1)
	}
	if rooted(next, n) {
		return nil
	}
	return next
}

// notCompactedLater corrects last, the last record in front of n, if it hangs behind a compaction that stands behind n: another client's
// turn was moved there. Then it is the nearest record in front that does not, if there is one near.
func (c *Checker) notCompactedLater(n, last *node) *node {
	if !c.some.marks {
		return last
	}
	for m, steps := last, 0; m != nil && steps < maxOpening; m, steps = m.front, steps+1 {
		if !rooted(m, n) && !behindMarkAfter(m, n, maxSiblings) {
			return m
		}
	}
	return last
}

// answeredByAnother says whether a prompt has an answer other than the given one. If the given one were hung on the prompt, it
// would be sent instead of the prompt's own.
func (c *Checker) answeredByAnother(answer, prompt *node) bool {
	if prompt == nil || prompt.up == nil || !prompt.IsPrompt() || prompt.index > answer.index {
		return false
	}
	if !c.linked { // its children are not known yet
		for _, m := range c.nodes[answer.index+1 : min(len(c.nodes), answer.index+maxSiblings)] {
			if m.up == prompt && m.Role == content.RoleAssistant && m.Sent() && !m.Filler && m.Msg != "" && m.Msg != answer.Msg {
				return true
			}
		}
		return false
	}
	for m, steps := prompt.first, 0; m != nil && steps < maxSiblings; m, steps = m.latter, steps+1 {
		if m.index > answer.index && m.Role == content.RoleAssistant && m.Sent() && !m.Filler && m.Msg != "" && m.Msg != answer.Msg {
			return true
		}
	}
	return false
}

// writeTime is how far, in milliseconds, the times of records may deviate from the order in which a client wrote them.
const writeTime = 1000

// callOf is the record with the call that a record answers, nil if it answers none.
func (c *Checker) callOf(n *node) *node {
	if n.Role != content.RoleResult {
		return nil
	}
	ids := n.IDs(content.BlockResult)
	for i := n.index - 1; i >= 0 && i > n.index-maxSiblings; i-- {
		m := c.nodes[i]
		if m.Role == content.RoleAssistant && !m.Side && slices.ContainsFunc(m.IDs(content.BlockCall), func(id string) bool { return slices.Contains(ids, id) }) {
			return m
		}
	}
	return nil
}

// healTime is how many milliseconds before a record whose parent is missing another record may have been written for clients
// from 2.1.100 on to take it as the parent (measured: 4.9 s yes, 5.1 s no).
const healTime = 5000

// healed is the parent that clients from 2.1.100 on choose for a record whose own is missing: the newest record within healTime
// before it. nil if there is none, or if two have the same millisecond.
func (c *Checker) healed(n *node) *node {
	if n.When == 0 {
		return nil
	}
	var best *node
	times := c.times()
	until, _ := slices.BinarySearchFunc(times, n.When+1, func(m *node, when int64) int { return cmp.Compare(m.When, when) })
	for i := until - 1; i >= max(0, until-maxSiblings) && times[i].When >= n.When-healTime; i-- {
		m := times[i]
		switch {
		case rooted(m, n):
		case best == nil:
			best = m
		case m.When == best.When:
			return nil
		default:
			return best
		}
	}
	return best
}

// impactOf is what clients do with a record whose parent is missing and should be p. Clients that record the conversation's end
// begin there. If the end is in front of the gap, they send only what stands in front of the gap, whatever the times are
// (measured with 2.1.120 to 2.1.330).
func (c *Checker) impactOf(n, p *node) finding.Impact {
	if c.healed(n) != p || c.behindEnd(n) {
		return finding.Loses
	}
	return c.worst(faults.OldAndNewer(finding.Loses, finding.Notes))
}

// behindEnd says whether a record stands behind the one that the client has recorded as the conversation's end.
func (c *Checker) behindEnd(n *node) bool {
	end := c.ids.get(c.leaf)
	return end != nil && end.index < n.index
}
