package mend

import (
	"cmp"
	"slices"

	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/finding"
)

// cycles cuts every circle of parents: at a record that was written before its parent, judged by both place and time, or else
// at the circle's first record in the file. If the circle leads through the later copy of a record whose earlier one had another
// parent, it is cut there, and that parent is the right one.
func (c *Checker) cycles() {
	cut := firstOfCircles(c.nodes, c.numbers, func(n *node) *node { return n.up })
	for i, first := range cut {
		for n := first.up; n != first && !cut[i].beforeParent(); n = n.up {
			if n.beforeParent() {
				cut[i] = n
			}
		}
		for n := first.up; len(c.saidBefore) > 0 && c.saidBefore[cut[i]] == nil; n = n.up {
			if c.saidBefore[n] != nil {
				cut[i] = n
			}
			if n == first {
				break
			}
		}
	}
	for _, first := range cut {
		first.up, first.above = nil, nil // with all circles cut, every way up has an end
	}
	for _, first := range cut {
		to := cmp.Or(c.before(first), c.healed(first)) // the last if the session's first records have changed places
		message := "the record is its own ancestor"
		if first.Parent == first.UUID {
			message = "the record is its own parent"
		}
		d := c.add(&draft{about: first, Finding: finding.Finding{Rule: faults.ParentCycle, Impact: c.worst(faults.OldAndNewer(finding.Blocks, finding.Loses)), Fix: finding.Exact, Message: message}})
		if c.healed(first) == to && !slices.ContainsFunc(c.readers(), cutsElsewhere) {
			d.Impact = c.worst(faults.OldAndNewer(finding.Blocks, finding.Notes))
		}
		c.hang(first, to, d)
		first.callParent("") // the id that it named is wrong and must not be used again
	}
}

// parentBefore is the parent that the earlier copy of a record has; nil if there is none, or if it hangs on the record itself.
func (c *Checker) parentBefore(n *node) *node {
	earlier := c.saidBefore[n]
	if earlier == nil {
		return nil
	}
	if p := c.ids.get(earlier.Parent); p != nil && !rooted(p, n) {
		return p
	}
	return nil
}

// firstOfCircles finds the circles of parents, and returns the record of each that comes first. The work is linear: each record
// is visited by one walk.
func firstOfCircles(nodes []*node, numbers int, up func(*node) *node) (firsts []*node) {
	done := make([]int32, numbers) // by a node's number: the walk that visited it, 0 if none did
	for i, start := range nodes {
		walk := int32(i + 1)
		n := start
		for n != nil && done[n.number] == 0 {
			done[n.number] = walk
			n = up(n)
		}
		if n == nil || done[n.number] != walk {
			continue
		}
		first := n
		for m := up(n); m != n; m = up(m) {
			if m.number < first.number {
				first = m
			}
		}
		firsts = append(firsts, first)
	}
	return firsts
}

// cutsElsewhere says whether a version finds lost parents by time, but does not cut a circle at its newest record. It then
// loses what comes before the circle (measured: 2.1.100 does, 2.1.120 does not).
func cutsElsewhere(version string) bool {
	return version != "" && !format.Before(version, "2.1.100") && format.Before(version, "2.1.120")
}
