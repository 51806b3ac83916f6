package mend

import (
	"cmp"
	"slices"

	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/finding"
)

// late mends outputs that stand too far below their calls: each is hung directly behind the answer with its call.
func (c *Checker) late() {
	laid := false
	groups := map[string][]*node{} // outputs, by the answer with their calls
	var order []*node              // one call of each such answer
	for _, m := range c.nodes {
		if m.Side || m.Role != content.RoleResult || m.dropped != nil || len(m.Blocks) == 0 {
			continue
		}
		call := c.callNamed(m, m.Blocks[0].ID)
		if call == nil || m.up == nil || call.Side || m.up == call || m.answers(&m.Blocks[0]) { // the last: several calls may have one id
			continue
		}
		if !laid {
			c.lay()
			laid = true
		}
		if mark := c.markBetween(call, m); mark != nil {
			c.cutOff(m)
			continue
		}
		if c.hungElsewhere(m, call) {
			c.hangOnCall(m, call)
			continue
		}
		if rightPlace(m, call) || c.behindTools(m, call) {
			continue
		}
		if groups[call.answer()] == nil {
			order = append(order, call)
		}
		groups[call.answer()] = append(groups[call.answer()], m)
	}
	for _, call := range order {
		c.bringUp(call, groups[call.answer()])
	}
}

// markBetween is the mark of a compaction that separates an output from its call: the output hangs on it, while the call stands
// in front of it and was not kept. nil if there is none. Needs a layout.
func (c *Checker) markBetween(call, output *node) *node {
	mark := c.markAround(output)
	if mark == nil || mark.index < call.index || call.within(mark) || len(mark.Keeps) > 0 || output.within(call) {
		return nil
	}
	return mark
}

// markAround is the mark of the last compaction in front of a record, if the record hangs on it; otherwise nil. Needs a layout.
func (c *Checker) markAround(n *node) *node {
	if c.marks == nil {
		c.marks = []*node{}
		for _, m := range c.nodes {
			if m.Role == content.RoleBoundary && !m.Side {
				c.marks = append(c.marks, m)
			}
		}
	}
	i, _ := slices.BinarySearchFunc(c.marks, n.index, func(m *node, index int) int { return m.index - index })
	if i == 0 || !n.within(c.marks[i-1]) {
		return nil
	}
	return c.marks[i-1]
}

// cutOff reports an output whose call was compacted while it ran. Clients send nothing of what stands in front of the mark:
// 2.1.100 and 2.1.330 leave out the output, too; 2.1.2 sends it alone (measured).
func (c *Checker) cutOff(m *node) {
	d := c.find(m, faults.LostCall, "the call that this output answers comes before a compaction: it is not sent, and versions up to 2.1.2 send the output alone")
	d.Impact, d.Fix = c.worst(faults.OldAndNewer(finding.Rejects, finding.Notes)), finding.SetAside
	if d.Impact != finding.Notes && len(m.Blocks) == 1 {
		c.drop(m, d)
	}
}

// answer identifies the answer that a record is a part of.
func (n *node) answer() string { return cmp.Or(n.Msg, n.UUID) }

// bringUp chains late outputs behind the answer with their calls. What followed that answer now follows them.
func (c *Checker) bringUp(call *node, outputs []*node) {
	end := answerEnd(call, outputs[0])
	var d *draft
	moved := map[*node]bool{}
	for _, m := range outputs {
		d = c.add(&draft{about: m, Finding: c.lateness(m, call)})
		for _, k := range m.children() {
			c.hang(k, m.up, d)
		}
		moved[m] = true
	}
	followed := end.children()
	last := end
	for i, m := range outputs {
		c.hang(m, last, c.found[len(c.found)-len(outputs)+i])
		last = m
	}
	for _, k := range followed {
		if !moved[k] && !sameAnswer(k, call) {
			c.hang(k, last, d)
		}
	}
}

// lateness is the finding about an output that follows what should follow it, with the impact on each client (measured with
// twelve versions).
func (c *Checker) lateness(m, call *node) finding.Finding {
	f := finding.Finding{Rule: faults.LateResult, Impact: finding.Notes, Fix: finding.Exact}
	spoken := false // another answer stands in between
	for p, steps := m.up, 0; p != nil && p != call && steps < maxSiblings; p, steps = p.up, steps+1 {
		spoken = spoken || p.Role == content.RoleAssistant && !sameAnswer(p, call)
	}
	worst := finding.Rejects
	f.Message = "a user message comes between the call and this output: versions before 2.0.29 send them like that, and the API refuses it; newer ones move the output into place"
	if spoken {
		worst = finding.Loses
		f.Message = "the output comes after another answer: versions from 2.1.20 on make up an error for the call and do not send the output"
	}
	for _, version := range c.readers() {
		if spoken != format.Before(version, "2.1.20") && (spoken || format.Before(version, "2.0.29")) {
			f.Impact = worst
		}
	}
	return f
}

// rightPlace says whether only the same answer and its outputs stand between an output and its call.
func rightPlace(m, call *node) bool {
	p := m.up.said
	return p == nil || !call.speaks() || p == call || sameAnswer(p, call) ||
		!m.within(call) // it hangs on something else: the client finds it by the id of the call's record
}

// sameAnswer says whether two records are parts of one answer. Of an answer without an id, as some proxies of the API give them, each part is an
// answer of its own: the newest client says of the first of two calls in a row that its output is missing (2.1.332, measured).
func sameAnswer(p, call *node) bool {
	return p.Role == content.RoleAssistant && p.Msg == call.Msg && p.Msg != ""
}

// behindTools says whether only another output of the same answer, and what its tool added, stand between an output and its
// call. A command or a skill that was called beside other tools adds text as the user (2.0.29, measured; every version sends
// all of it, the outputs first).
func (c *Checker) behindTools(m, call *node) bool {
	p := m.up
	for steps := 0; p != nil && (p.Role == content.RoleUser || p.Role == content.RoleLink) && steps < maxSiblings; steps++ {
		p = p.up
	}
	if p == nil || p == m.up || p.Role != content.RoleResult {
		return false
	}
	other := c.callOf(p)
	return other != nil && call.Msg != "" && other.Msg == call.Msg
}

// answerEnd is the last record, on the way down from a call to another record, that belongs to the call's answer or is an
// output.
func answerEnd(call, to *node) *node {
	end := call
	for k := call.first; k != nil; {
		switch {
		case k == to || !to.within(k):
			k = k.latter
		case sameAnswer(k, call) || k.Role == content.RoleResult:
			end, k = k, k.first
		default:
			return end
		}
	}
	return end
}

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
	d := c.find(m, faults.LateResult, "the output's parent is not its call: the client follows that parent, and forgets what led to the call")
	c.hang(m, p, d)
}
