package claude

import (
	"slices"

	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/finding"
)

// hungElsewhere says whether an output that more follows has a parent that is not below the output's call. Every client hangs
// an output on its call, or on another output of the same answer. What follows is then sent together with what is above the
// wrong parent, and what is above the call is not. Needs a layout.
func (c *Checker) hungElsewhere(m, call *node) bool {
	if m.first == nil || m.within(call) || call.within(m) || m.writtenBefore(call) || c.hasAnotherOutput(m, call) {
		return false
	}
	for p, steps := m.up, 0; p != nil && steps < maxSiblings; p, steps = p.up, steps+1 {
		if p.Says(content.BlockCall, m.Blocks[0].ID) {
			return false // the history was written twice, and this is a copy of the call
		}
	}
	mark := c.markAround(m)
	return mark == nil || call.within(mark) // otherwise the call was compacted
}

// hasAnotherOutput says whether the call that m names has an output other than m: then the history was written twice, and m
// answers a copy of the call that is lost.
func (c *Checker) hasAnotherOutput(m, call *node) bool {
	all := c.results()[m.Blocks[0].ID]
	others := slices.DeleteFunc(slices.Clone(all[:min(2, len(all))]), func(o *node) bool { return o == m })
	return len(others) > 0 && pairOf(call, others[0])
}

// hangOnCall hangs an output on its call again, or on what belongs between the two.
func (c *Checker) hangOnCall(m, call *node) {
	if under(call, m) { // this call now hangs on m, moved there with another output
		return
	}
	p := c.before(m)
	if c.callOf(m) != call || under(p, m) {
		p = call
	}
	d := c.add(&draft{about: m, Finding: finding.Finding{
		Rule: faults.LateResult, Impact: finding.Loses, Fix: finding.Exact,
		Message: "the output's parent is not its call: the client follows that parent, and forgets what led to the call",
	}})
	c.hang(m, p, d)
}
