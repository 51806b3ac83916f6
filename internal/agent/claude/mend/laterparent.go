package mend

import (
	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/finding"
)

// maxLater is how many records with a later parent are examined: each costs the length of the session.
const maxLater = 100

// cutLater finds records whose parent was written after them, judged by both place and time, and cuts them off: a record can't
// answer what did not exist yet. It leaves out records that have merely changed places: moved lines keep their times, a wrong
// clock leaves the places, and where two clients' turns were put one after the other, what stands in front of the record is
// above its parent, too. A prompt may have been moved behind a compaction that another client made meanwhile, but nothing that
// was compacted may; nor may the prompt with which the session begins hang on its own answer.
func (c *Checker) cutLater() (cut []*node) {
	if !c.parentsBehind {
		return nil
	}
	past := c.pastTheirMarks()
	tried := 0
	for _, n := range c.nodes {
		if !n.beforeParent() {
			continue
		}
		if !past[n] {
			if n.IsPrompt() && !c.beginsAnswered(n) || opening(n.up) && !behindMarkAfter(n.up, n, maxOpening) || addedLate(n) {
				continue
			}
			if tried++; tried > maxLater {
				return cut
			}
			if !inFrontOf(n, n.up) && !n.IsPrompt() {
				continue
			}
		}
		n.up, n.above = nil, nil
		cut = append(cut, n)
	}
	return cut
}

// beginsAnswered says whether a prompt is the first record of the conversation, and hangs below an answer, or what the client
// added to a prompt, that hangs on nothing in the file.
func (c *Checker) beginsAnswered(n *node) bool {
	if n.index != c.firstIndex() || c.some.marks {
		return false
	}
	root := n.up
	for steps := 0; root.up != nil && root.up != n && steps < maxSiblings; steps++ {
		root = root.up
	}
	return root.up == nil && (root.Role == content.RoleAssistant || root.Role == content.RoleLink)
}

// behindMarkAfter says whether a record hangs, with no more than so many records in between, on the mark of a compaction that stands
// behind another record: that one was compacted.
func behindMarkAfter(n, other *node, within int) bool {
	for steps := 0; n != nil && n.Role != content.RoleBoundary && steps < within; steps++ {
		n = n.up
	}
	return n != nil && n.Role == content.RoleBoundary && n.index > other.index
}

// pastTheirMarks are records that were compacted, but whose parent is the mark of that very compaction, or a record behind it.
func (c *Checker) pastTheirMarks() map[*node]bool {
	if !c.some.marks {
		return nil
	}
	past, seen := map[*node]bool{}, map[*node]bool{}
	for _, mark := range c.nodes {
		if mark.Role != content.RoleBoundary || mark.Side {
			continue
		}
		last := c.lastKept(mark)
		if last == nil {
			last = c.ids.get(mark.Ref2)
		}
		for n := last; n != nil && n.index < mark.index && !seen[n]; n = n.up {
			seen[n] = true
			past[n] = n.up != nil && n.up.index >= mark.index
		}
	}
	return past
}

// beforeParent says whether a record was written before its parent, judged by both place and time.
func (n *node) beforeParent() bool {
	return n.up != nil && !n.Side && !n.up.Side && n.writtenBefore(n.up)
}

// writtenBefore says whether a record was written before another, judged by both place and time.
func (n *node) writtenBefore(other *node) bool {
	return n.index < other.index && n.When != 0 && other.When > n.When+writeTime
}

// inFrontOf says whether what stands in front of a record is not above its parent: then the record belongs behind that.
func inFrontOf(n, parent *node) bool { return n.front != nil && !leads(parent, n.front, n) }

// leads says whether the way up from one record reaches a second one before it reaches a third.
func leads(from, to, round *node) bool {
	seen := map[*node]bool{}
	for n := from; n != nil && n != round && !seen[n]; n = n.up {
		if n == to {
			return true
		}
		seen[n] = true
	}
	return false
}

// laterParents reports the records that cutLater cut off, and hangs each on its likeliest parent in front of it.
func (c *Checker) laterParents(cut []*node) {
	for _, n := range cut {
		d := c.add(&draft{about: n, Finding: finding.Finding{
			Rule: faults.BrokenParent, Impact: finding.Loses, Fix: finding.Exact,
			Message: "the record's parent was written after it: the client follows it, and forgets what came before this record",
		}})
		c.hang(n, c.before(n), d)
		n.callParent("")
	}
}
