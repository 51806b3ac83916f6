package claude

import (
	"slices"

	"github.com/hist-cli/hist/internal/finding"
)

// hungElsewhere says whether an output that something follows hangs where no record above it holds its call: every client hangs
// it on the call, or on another output of the same answer. What follows is then sent with what leads to the wrong record, and
// what led to the call is not. The trees are laid out.
func (c *Checker) hungElsewhere(m, call *node) bool {
	if m.first == nil || m.within(call) || call.within(m) || m.writtenBefore(call) || c.hasAnotherOutput(m, call) {
		return false
	}
	for p, steps := m.up, 0; p != nil && steps < maxSiblings; p, steps = p.up, steps+1 {
		if p.says(blockCall, m.blocks[0].id) {
			return false // the history was written again, and this is a copy of the call
		}
	}
	mark := c.markAround(m)
	return mark == nil || call.within(mark) // else a compaction has taken the call
}

// hasAnotherOutput says whether another output than m hangs on the call that m names: then the history was written twice, and what m
// answers is a copy that is lost.
func (c *Checker) hasAnotherOutput(m, call *node) bool {
	all := c.results()[m.blocks[0].id]
	others := slices.DeleteFunc(slices.Clone(all[:min(2, len(all))]), func(o *node) bool { return o == m })
	return len(others) > 0 && pairOf(call, others[0])
}

// hangOnCall hangs an output on its call again, or on what came in between.
func (c *Checker) hangOnCall(m, call *node) {
	if under(call, m) { // an output that was hung on its call just now has taken this call with it
		return
	}
	p := c.before(m)
	if c.callOf(m) != call || under(p, m) {
		p = call
	}
	d := c.add(&draft{about: m, Finding: finding.Finding{
		Rule: ruleLateResult, Impact: finding.Loses, Fix: finding.Exact,
		Message: "the output's parent is not its call: the client follows that parent, and forgets what led to the call",
	}})
	c.hang(m, p, d)
}
