package claude

import (
	"fmt"

	"github.com/hist-cli/hist/internal/finding"
)

// maxBranches is how many branches are mended: a file with more is nobody's conversation.
const maxBranches = 100

// branches mends branches that nothing explains. Of a file with too many it only says so.
func (c *Checker) branches() {
	tip := c.tipOf(c.leaf)
	if tip == nil {
		return
	}
	leaf, pointed, found := c.leaf, c.pointed, len(c.found)
	for round := 0; ; round++ { // each mends one branch
		sent := c.sentNow
		if round > 0 {
			sent = func() *nodeSet { return c.reach(tip, hung, c.hungKept, c.all()) }
		}
		t := c.trunkOf(tip)
		head, end := c.lostBranch(sent(), t)
		if head == nil {
			return
		}
		d := c.add(&draft{about: head, always: true, Finding: finding.Finding{
			Rule: ruleLostBranch, Impact: finding.Loses, Fix: finding.Exact,
			Message: "two records have the same parent, and no rewind explains it: the client sends one branch only and forgets this one",
		}})
		if round == maxBranches {
			c.hangBack(c.found[found:])
			c.leaf, c.pointed, c.found = leaf, pointed, c.found[:found+1]
			first := c.found[found]
			first.Edits, first.Fix = nil, finding.NoFix
			first.Message = fmt.Sprintf("more than %d branches that nothing explains: the client sends one of them; --branch with a record's id chooses another", maxBranches)
			return
		}
		head.branchDone = true
		tip = c.behind(d, head, end, t)
	}
}

// hangBack takes back the moves that were made last, for the sake of some findings.
func (c *Checker) hangBack(drafts []*draft) {
	back := map[*draft]bool{}
	for _, d := range drafts {
		back[d] = true
	}
	for _, n := range c.nodes {
		for len(n.moves) > 0 && back[n.moves[len(n.moves)-1].by] {
			last := n.moves[len(n.moves)-1]
			n.own().moves = n.moves[:len(n.moves)-1]
			n.leave()
			n.up, n.above = last.from, last.from
			c.changes++
			n.join()
		}
	}
}

// lostBranch finds a branch that holds answers and is not sent: its first record and its last.
func (c *Checker) lostBranch(sent *nodeSet, t *trunk) (head, end *node) {
	for _, n := range c.all() {
		if n.side || sent.has(n) || n.dropped != nil || n.branchDone || n.up == nil || !sent.has(n.up) || n.role == roleResult {
			continue
		}
		last, answered := c.branchEnd(n)
		if answered && !c.explained(n, last, t) {
			return n, last
		}
		n.branchDone = true
	}
	return nil, nil
}

// branchEnd is the last record below one, and whether the model has answered there.
func (c *Checker) branchEnd(n *node) (last *node, answered bool) {
	last = n
	c.below(n, func(m *node) bool {
		if m.side || m.dropped != nil {
			return false
		}
		if m.role == roleAssistant && m.sent() && !m.filler {
			answered = true
		}
		if m.index > last.index || m.index == last.index && m.up == last { // one of hist's own has the place of that beside it
			last = m
		}
		return true
	})
	return last, answered
}

// explained says whether a branch was left on purpose: the client has noted a rewind, or is one that does not note them
// and the branch was over before the other began.
func (c *Checker) explained(head, end *node, t *trunk) bool {
	fork, tip := t.forkOf(c, head), t.tip
	winner := fork.winner // the branch that is sent instead
	if winner == nil {    // nobody went on there; what hangs on the tip itself is a matter of where the client begins
		return fork.at == tip || fork.at == nil || c.leftByChoice(head)
	}
	if winner.isPrompt() && c.leftOut(t, winner, head, end) {
		return true
	}
	if c.leftByChoice(head) {
		return true
	}
	if fork.answersBranch(c, t, head) || winner.role == roleAssistant && winner.msg != "" && holdsAnswer(head, end, winner) {
		return false
	}
	if winner.isPrompt() && !head.isPrompt() && fork.inTurn {
		return false // nobody goes back to the middle of a turn
	}
	if fork.inAnswer() && !head.isPrompt() && !c.unfinishedAnswer(head, end) {
		return false
	}
	if fork.toldLate(end) || fork.skipsAnswer(head, end) || passesOutput(winner, end) {
		return false
	}
	if t.continuesByItself(winner) {
		return c.unfinishedAnswer(head, end)
	}
	if answersAgain(head.up, winner) {
		return false
	}
	winner = t.asked(winner)
	if winner.role == roleAssistant && c.asks(head, end) {
		return false // an answer is begun anew in front of the next prompt, or not at all
	}
	if !winner.isPrompt() && winner.role != roleAssistant || head.msg != "" && head.msg == winner.msg {
		return true
	}
	if winner.isPrompt() && c.rewound(winner) && leftFor(winner, head) || c.rewound(head) {
		return true
	}
	overlap := end.when != 0 && winner.when != 0 && end.when > winner.when && tip.when >= head.when
	if end.when != 0 && head.index > winner.index && end.when < winner.when || tip.when != 0 && head.index < winner.index && tip.when < head.when {
		return false // who comes later in the file was written earlier: that is no rewind
	}
	if goesOnBeside(head, end, winner) || head.isPrompt() && winner.isPrompt() && goesOnBeside(winner, tip, head) {
		return false
	}
	if before(c.written, firstNoted) {
		return (!overlap || head.role == roleAssistant && !head.isPrompt()) && !c.foreign(head) && !c.foreign(winner)
	}
	return false
}

// goesOnBeside says whether something was said on a branch after another was begun beside it: a client that goes back has left the
// branch by then, so two clients have written in turns.
func goesOnBeside(head, end, winner *node) bool {
	if head.index > winner.index {
		return false
	}
	for n := end; n != nil && n != head && n.index > winner.index; n = n.up {
		if n.speaks() && !n.asksNothing && !n.meta && !n.filler {
			return true
		}
	}
	return false
}

// holdsAnswer says whether an earlier part of an answer stands on a branch, behind something else: nobody leaves the beginning of an
// answer and goes on with the rest.
func holdsAnswer(head, end, part *node) bool {
	for n, steps := end, 0; n != nil && n != head && steps < maxSiblings; n, steps = n.up, steps+1 {
		if n.role == roleAssistant && n.msg == part.msg && n.index < part.index {
			return true
		}
	}
	return false
}

// passesOutput says whether an answer hangs elsewhere than on the output that stands in front of it, and that nothing else
// follows: who goes back says something there, and a client that goes on answers the output.
func passesOutput(answer, output *node) bool {
	if answer.role != roleAssistant || !answer.sent() || answer.filler || answer.front != output || output.first != nil {
		return false
	}
	for output != nil && output.role == roleLink {
		output = output.up
	}
	return output != nil && output.role == roleResult
}

// leftFor says whether a rewind to where a prompt hangs has left this branch: the one that hung there before, unless there is none.
func leftFor(prompt, head *node) bool {
	if head.up == prompt.up {
		return true
	}
	for n := prompt.up.first; n != nil; n = n.latter {
		if n.index < prompt.index && n.isPrompt() {
			return false
		}
	}
	return true
}

// answersAgain says whether two records answer one call. A client that resumes a session in which another still runs a tool
// tells the model that the call was interrupted, and goes on behind that, while the other goes on behind its output (2.1.330,
// measured): a single client goes on behind one of the two.
func answersAgain(one, other *node) bool {
	if one == other || one.role != roleResult || other.role != roleResult {
		return false
	}
	for id := range one.each(blockResult) {
		if other.says(blockResult, id) {
			return true
		}
	}
	return false
}

// unfinishedAnswer says whether a branch is no more than an answer with calls of which none was answered: a client that
// was interrupted there leaves it out by itself when it goes on (2.1.50 and 2.1.150, measured).
func (c *Checker) unfinishedAnswer(head, end *node) bool {
	called := false
	for m := end; m != nil; m = m.up {
		if m.hasMessage() && (m.role != roleAssistant || m.msg != head.msg) {
			return false
		}
		for id := range m.each(blockCall) {
			if len(c.results()[id]) > 0 {
				return false
			}
			called = true
		}
		if m == head {
			return called
		}
	}
	return false
}

// asks says whether something was asked on the way up from the end of a branch to its head.
func (c *Checker) asks(head, end *node) bool {
	for n := end; n != nil; n = n.up {
		if n.isPrompt() && !n.asksNothing {
			return true
		}
		if n == head {
			break
		}
	}
	return false
}

// firstNoted is the first version that is known to note rewinds; 2.1.215 does not.
const firstNoted = "2.1.330"

// behind hangs one branch behind the other; it returns the tip of what there is then.
func (c *Checker) behind(d *draft, head, end *node, t *trunk) *node {
	fork, tip := t.forkOf(c, head), t.tip
	winner := fork.winner
	if winner == nil {
		c.hang(head, tip, d)
		return end
	}
	var next *node // the first prompt on the side that is sent that came after the branch was over
	for p := tip; p != nil && p != fork.at; p = p.up {
		if p.isPrompt() && p != winner && end.when != 0 && p.when > end.when {
			next = p
		}
	}
	switch {
	case fork.inAnswer() && c.complete(end), end.index < winner.index && (c.complete(end) || end.role == roleResult && winner.role == roleAssistant): // one side after the other
		c.hang(fork.movable(), end, d)
		return tip
	case next != nil:
		c.hang(head, next.up, d)
		c.hang(next, end, d)
		return tip
	case head.when < winner.when && end.when < tip.when && winner.isPrompt() && head.isPrompt():
		c.hang(fork.movable(), end, d)
		return tip
	}
	c.hang(head, tip, d)
	if c.byUUID[c.leaf] != nil && !under(end, c.byUUID[c.leaf]) {
		c.pointAt(d, end, false)
	}
	return end
}

// complete says whether a turn may follow a record: no call is open there.
func (c *Checker) complete(n *node) bool {
	for id := range n.each(blockCall) {
		if len(c.results()[id]) == 0 {
			return false
		}
	}
	return n.role != roleResult
}
