package mend

import (
	"fmt"
	"slices"

	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/finding"
)

// maxBranches is how often branches are looked for: a file with more is nobody's conversation.
const maxBranches = 100

// branches mends branches that nothing explains. Of a file with more than maxBranches, it only reports that.
func (c *Checker) branches() {
	tip := c.tipOf(c.leaf)
	if tip == nil {
		return
	}
	leaf, pointed, found := c.leaf, c.pointed, len(c.found)
	for round := 0; ; round++ { // each mends one branch, or those of parallel calls
		sent := c.sentNow
		if round > 0 {
			sent = func() *nodeSet { return c.reach(tip) }
		}
		t := c.trunkOf(tip)
		lost := c.lostBranches(sent(), t)
		if len(lost) == 0 {
			return
		}
		for _, b := range lost {
			d := c.find(b.head, faults.LostBranch, "two records have the same parent, and no rewind explains it: the client sends one branch only and forgets this one").anyway()
			if round == maxBranches {
				c.hangBack(c.found[found:])
				c.leaf, c.pointed, c.found = leaf, pointed, c.found[:found+1]
				first := c.found[found]
				first.Edits, first.Fix = nil, finding.NoFix
				first.Message = fmt.Sprintf("more than %d branches that nothing explains: the client sends one of them; --branch with a record's id chooses another", maxBranches)
				return
			}
			b.head.branchDone = true
			t.tip = c.behind(d, b.head, b.end, t)
		}
		tip = t.tip
	}
}

// hangBack undoes the newest moves that were made for some findings.
func (c *Checker) hangBack(drafts []*draft) {
	back := map[*draft]bool{}
	for _, d := range drafts {
		back[d] = true
	}
	for _, n := range c.nodes {
		for len(n.moves) > 0 && back[n.moves[len(n.moves)-1].by] {
			last := n.moves[len(n.moves)-1]
			n.change().moves = n.moves[:len(n.moves)-1]
			n.leave()
			n.up, n.above = last.from, last.from
			c.changes++
			n.join()
		}
	}
}

// stretch is a branch from its first record to its last.
type stretch struct{ head, end *node }

// lostBranches finds a branch that holds answers, or prompts that waited for the end of a tool, and is not sent, though nobody left it on
// purpose; or else those that an answer without an id leaves with its calls, which belong into one line.
func (c *Checker) lostBranches(sent *nodeSet, t *trunk) (lost []stretch) {
	if len(sent.list) == len(c.nodes)+len(c.added) {
		return nil
	}
	for _, n := range c.all() {
		if n.Side || sent.has(n) || n.dropped != nil || n.branchDone || n.up == nil || !sent.has(n.up) {
			continue
		}
		if outputBeside(n) && !c.anotherIsSent(n, sent) {
			lost = append(lost, stretch{n, n})
		}
		if n.Role == content.RoleResult {
			continue
		}
		fork := c.forkOf(t, n)
		parted := fork.parted(n)
		if len(lost) > 0 && !parted {
			continue
		}
		last, answered := c.branchEnd(n)
		switch {
		case !answered && !fork.waited(n) || c.leftOnPurpose(n, last, t):
			n.branchDone = true
		case parted:
			lost = append(lost, stretch{n, last})
		default:
			return []stretch{{n, last}}
		}
	}
	return lost
}

// anotherIsSent says whether another output of the same call is sent.
func (c *Checker) anotherIsSent(output *node, sent *nodeSet) bool {
	return slices.ContainsFunc(output.IDs(content.BlockResult), func(id string) bool { return slices.ContainsFunc(c.results()[id], sent.has) })
}

// outputBeside says whether an output hangs on a call of an answer without an id, and nothing hangs on it: the client finds the outputs of
// parallel calls that are beside its way by that id alone.
func outputBeside(n *node) bool {
	return n.Role == content.RoleResult && n.first == nil && n.up != nil && n.up.Role == content.RoleAssistant && n.up.Msg == "" && n.isOutputOf(n.up)
}

// branchEnd is the last record below another one, and whether the model has answered on the way there.
func (c *Checker) branchEnd(n *node) (last *node, answered bool) {
	last = n
	c.below(n, func(m *node) bool {
		if m.Side || m.dropped != nil {
			return false
		}
		if m.Role == content.RoleAssistant && m.Sent() && !m.Filler {
			answered = true
		}
		if m.index > last.index || m.index == last.index && m.up == last { // a record that hist inserted has the index of its neighbour in the file
			last = m
		}
		return true
	})
	return last, answered
}

// behind makes one branch follow the other, and returns the tip of the result.
func (c *Checker) behind(d *draft, head, end *node, t *trunk) *node {
	fork, tip := c.forkOf(t, head), t.tip
	winner := fork.winner
	if c.sameCalls(tip, head.up) { // the client sends both outputs anyway: it only has to begin at the right end
		c.pointAt(d, end, false)
		return end
	}
	if winner == nil && fork.next != nil && !under(end, fork.next) { // nothing is said on what is sent instead, such as the progress of a tool that was written late
		c.hang(fork.next, end, d)
		return tip
	}
	if winner == nil {
		c.hang(head, tip, d)
		return end
	}
	switch { // outputs of an answer without an id stand right behind their calls, or the client pairs the last of them only
	case outputBeside(head):
		if before := t.front[fork.next]; before != nil {
			c.hang(head, before, d)
		}
		c.hang(fork.next, end, d)
		t.front[fork.next] = end
		return tip
	case fork.parted(head):
		c.hang(head, fork.winner, d)
		return c.goesOnBehind(d, t.forks[fork.winner].next, end, tip)
	case fork.waited(head) && !answered(head, end):
		answer := t.answerBelow(fork.at)
		if answer != nil {
			tip = answer.up
		}
		c.hang(head, tip, d)
		return c.goesOnBehind(d, answer, end, t.tip)
	}
	var next *node // the first prompt of the sent side that was written after the branch had ended
	for p := tip; p != nil && p != fork.at; p = p.up {
		if p.IsPrompt() && p != winner && end.When != 0 && p.When > end.When {
			next = p
		}
	}
	if front := c.behindMark(fork, end); front != nil {
		d.also = append(d.also, winner) // the branch itself was compacted
		c.hang(fork.next, front, d)
		return tip
	}
	switch {
	case (fork.inAnswer() || winner.Filler) && c.complete(end), end.index < winner.index && (c.complete(end) || end.Role == content.RoleResult && winner.Role == content.RoleAssistant), // one side after the other
		winner.IsPrompt() && winner.index < fork.at.index && end.When != 0 && end.When < winner.When && c.complete(end): // the prompt was moved
		c.hang(fork.movable(), end, d)
		return tip
	case next != nil:
		c.hang(head, next.up, d)
		c.hang(next, end, d)
		return tip
	case head.When < winner.When && end.When < tip.When && winner.IsPrompt() && head.IsPrompt():
		c.hang(fork.movable(), end, d)
		return tip
	}
	c.hang(head, tip, d)
	return end
}

// goesOnBehind hangs what follows on the trunk, if anything does, on the end of a branch, and returns the tip of the result.
func (c *Checker) goesOnBehind(d *draft, next, end, tip *node) *node {
	if next == nil {
		return end
	}
	c.hang(next, end, d)
	return tip
}

// behindMark is the record that should be above a prompt or an answer that hangs on the wrong side of a compaction: its parent
// is in front of the compaction, although the compaction's mark and more stand in front of it in the file. It then belongs
// behind what stands there. nil if that is not so.
func (c *Checker) behindMark(fork *fork, end *node) *node {
	n, front := fork.winner, fork.next.front
	behindAnswer := n.Role == content.RoleAssistant && fork.at.Role == content.RoleAssistant && fork.at.Msg != n.Msg
	if !c.some.marks || n.Role == content.RoleResult || !fork.inTurn && !fork.inAnswer() && !behindAnswer || front == nil || !c.complete(front) || under(front, fork.next) {
		return nil
	}
	for _, mark := range c.nodes[:front.index] {
		if mark.Role == content.RoleBoundary && !mark.Side && mark.dropped == nil && mark.Ref2 == end.UUID && mark.index > end.index {
			return front
		}
	}
	return nil
}

// forkOf is where a branch leaves the trunk. Of parallel calls, the outputs on both ways are sent: the ways part behind them.
func (c *Checker) forkOf(t *trunk, head *node) *fork {
	f := t.forkOf(head)
	for steps := 0; f.winner != nil && head.up != nil && c.sameCalls(f.winner, head.up) && steps < maxSiblings; steps++ {
		f = t.forks[f.winner]
	}
	return f
}

// sameCalls says whether two records are outputs of calls that one answer made at once.
func (c *Checker) sameCalls(one, other *node) bool {
	if one.Role != content.RoleResult || other.Role != content.RoleResult || one == other {
		return false
	}
	a, b := c.callOf(one), c.callOf(other)
	return a != nil && b != nil && a != b && a.Msg != "" && a.Msg == b.Msg
}

// complete says whether a new turn may follow a record: no call is left open there.
func (c *Checker) complete(n *node) bool {
	for id := range n.Each(content.BlockCall) {
		if len(c.results()[id]) == 0 {
			return false
		}
	}
	return n.Role != content.RoleResult
}
