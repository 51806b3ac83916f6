package mend

import (
	"slices"

	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/finding"
)

// order reports records that stand in front of their parents.
func (c *Checker) order() {
	if c.newTarget() && c.some.keeps && c.inFrontOfMark() || !c.parentsBehind {
		return
	}
	for _, n := range c.nodes {
		if n.up != nil && n.new == nil && n.up.new == nil && !n.Side && n.up.index > n.index && len(n.moves) == 0 && n.HasMessage() && !opening(n.up) && !addedLate(n) && !n.up.retold && !c.overtakesCall(n) {
			c.find(n, faults.RecordOrder, "the record comes before its parent")
			return
		}
	}
}

// inFrontOfMark reports records that hang below the last compaction but stand in front of its mark in the file: 2.1.330 sends
// none of them (measured; for versions up to 2.1.2 the place does not matter).
func (c *Checker) inFrontOfMark() bool {
	mark := c.tipOf(c.leaf)
	tip, steps := mark, 0
	for ; mark != nil && mark.Role != content.RoleBoundary && steps <= len(c.nodes); steps++ {
		mark = mark.up
	}
	if mark == nil || steps == 0 || mark.new != nil || len(mark.Keeps) == 0 {
		return false
	}
	path := make([]*node, 0, steps)
	for n := tip; n != mark; n = n.up {
		path = append(path, n)
	}
	kept := map[*node]bool{}
	for list, _ := keptBy(mark, &c.ids); len(list) > 0; list = list[1:] {
		kept[list[0]] = true
	}
	var early []*node // parents first
	for _, n := range slices.Backward(path) {
		if n.new == nil && n.index < mark.index && !kept[n] {
			early = append(early, n)
		}
	}
	if !slices.ContainsFunc(early, func(n *node) bool { return n.Sent() && !c.brought[n] }) {
		return false // records that were just moved below the mark in the tree are moved in the file by the next pass
	}
	d := c.find(path[0], faults.RecordOrder, "records that followed the last compaction come before its mark: the client sends none of them").anyway()
	d.Impact, d.Fix = finding.Loses, finding.Exact
	move := func(n, beside *node, op finding.Op) {
		from := n.Ref()
		d.Edits = append(d.Edits, finding.Edit{At: n.Pos(), Op: finding.Remove, Moved: true}, finding.Edit{At: beside.Pos(), Op: op, New: finding.Content{From: &from}})
	}
	if slices.ContainsFunc(append(early, mark), (*node).changed) {
		d.Fix = finding.NoFix
		return true
	}
	places := make(map[*node]*node, len(early)) // the record behind which each is put; a child goes to the same place as its parent
	for _, n := range early {
		beside := n.up
		for beside.new != nil || places[beside] == nil && beside.index < mark.index { // kept messages stay in front of the mark
			beside = beside.up
		}
		if place, ok := places[beside]; ok {
			beside = place
		}
		places[n] = beside
		move(n, beside, finding.After)
	}
	return true
}

// changed says whether another finding changes a record or its parent; such a record is not moved.
func (n *node) changed() bool { return len(n.moves) > 0 || n.changedInside() }

func (n *node) changedInside() bool { return len(n.Faults) > 0 || n.dropped != nil || n.mended }

// opening says whether nobody has answered yet at this place: the client may write the first prompt, and what it adds to that,
// after the first records of the answer (seen in 2.1.215, in a terminal).
func opening(n *node) bool {
	for steps := 0; n != nil && steps < maxOpening; steps++ {
		if n.Role == content.RoleAssistant || n.Role == content.RoleResult {
			return false
		}
		n = n.up
	}
	return n == nil
}

// addedLate says whether only what the client adds to a prompt stands behind the answer's first record: when it resumes a
// session, it may write that late (seen in 2.1.300, in a terminal).
func addedLate(n *node) bool {
	p := n.up
	for steps := 0; p != nil && p.Attachment != "" && steps < maxOpening; steps++ {
		p = p.up
	}
	return p != nil && p != n.up && p.IsPrompt() && p.index < n.index
}

// overtakesCall says whether an output was written in front of its call. A client that runs the calls of an answer while that comes in may
// write both at once (seen in 2.1.270), and put the first outputs of a sub-agent in front of its conversation (2.1.45). A single call of
// the session's own is always written first.
func (c *Checker) overtakesCall(n *node) bool {
	const atOnce = 100 // milliseconds
	call := n.up
	return n.Role == content.RoleResult && call.up != nil && call.up.Msg == call.Msg && call.Msg != "" && call.index-n.index <= maxOpening &&
		n.When >= call.When && (n.When-call.When < atOnce || c.opts.SubAgent)
}

// maxOpening is the most records that the client adds to a first prompt.
const maxOpening = 64
