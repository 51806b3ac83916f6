package claude

import (
	"github.com/hist-cli/hist/internal/finding"
)

// maxLater is how many records are looked at whose parent seems to be later: each costs the length of the session.
const maxLater = 100

// cutLater takes their parents from the records whose parent stands behind them in the file and was written later, if what stands
// in front of them is not above them, and returns them: what was not there yet was not answered. Lines that have changed places
// keep their times, with a wrong clock they keep their places, and where turns of two clients were put behind each other both
// are above what follows. A prompt may have been put behind a compaction that another client made meanwhile, but nothing that
// was compacted.
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
			if n.isPrompt() || opening(n.up) || addedLate(n) {
				continue
			}
			if tried++; tried > maxLater {
				return cut
			}
			if !inFrontOf(n, n.up) {
				continue
			}
		}
		n.up, n.above = nil, nil
		cut = append(cut, n)
	}
	return cut
}

// pastTheirMarks are the records that were compacted and name the mark of that compaction as their parent, or a record behind it.
func (c *Checker) pastTheirMarks() map[*node]bool {
	if !c.some.marks {
		return nil
	}
	past, seen := map[*node]bool{}, map[*node]bool{}
	for _, mark := range c.nodes {
		if mark.role != roleBoundary || mark.side {
			continue
		}
		last := c.lastKept(mark)
		if last == nil {
			last = c.ids.get(mark.ref2)
		}
		for n := last; n != nil && n.index < mark.index && !seen[n]; n = n.up {
			seen[n] = true
			past[n] = n.up != nil && n.up.index >= mark.index
		}
	}
	return past
}

// beforeParent says whether a record was written before the one that it names as its parent, by its place and by its time.
func (n *node) beforeParent() bool {
	return n.up != nil && !n.side && !n.up.side && n.writtenBefore(n.up)
}

// writtenBefore says whether a record was written before another, by its place and by its time.
func (n *node) writtenBefore(other *node) bool {
	return n.index < other.index && n.when != 0 && other.when > n.when+writeTime
}

// inFrontOf says whether what stands in front of a record is not above its parent: the record belongs there.
func inFrontOf(n, parent *node) bool { return n.front != nil && !leads(parent, n.front, n) }

// leads says whether the way up from a record leads to another, and not round to a third.
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

// laterParents reports the records that were cut off their parents, and hangs each on what comes before it.
func (c *Checker) laterParents(cut []*node) {
	for _, n := range cut {
		d := c.add(&draft{about: n, Finding: finding.Finding{
			Rule: ruleBrokenParent, Impact: finding.Loses, Fix: finding.Exact,
			Message: "the record's parent was written after it: the client follows it, and forgets what came before this record",
		}})
		c.hang(n, c.before(n), d)
		n.callParent("")
	}
}
