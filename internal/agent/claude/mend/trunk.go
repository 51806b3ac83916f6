package mend

import (
	"slices"

	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/agent/claude/format"
)

// trunk is the way up from a tip to its root, and the branches that leave it.
type trunk struct {
	tip   *node
	parts map[partAt]bool // what the records hold, and when; nil until asked for
	forks map[*node]*fork // by record: those of the trunk itself, and those on branches that were asked for; nil until the first question
	front map[*node]*node // by a record of the trunk: what was put in front of it
}

// fork is a place where a branch leaves the trunk: at is the record of the trunk on which the branch hangs.
type fork struct {
	at     *node
	winner *node          // the next message on the trunk below at, nil if there is none
	next   *node          // the next record on the trunk below at, nil at the tip
	inTurn bool           // at is in the middle of a turn: a call is the last message up to there
	called map[*node]bool // if winner answers a call on a branch: the records from the call up to the trunk; nil until asked for
}

func (c *Checker) trunkOf(tip *node) *trunk { return &trunk{tip: tip, front: map[*node]*node{}} }

// walk follows the trunk from the tip to the root, and makes a fork for each record.
func (t *trunk) walk() {
	t.forks = map[*node]*fork{}
	var said, next *node
	var way []*fork
	for p := t.tip; p != nil; p = p.up {
		f := &fork{at: p, winner: said, next: next}
		next = p
		t.forks[p] = f
		way = append(way, f)
		if p.HasMessage() {
			said = p
		}
	}
	called := false
	for _, f := range slices.Backward(way) {
		if f.at.HasMessage() {
			called = f.at.Role == content.RoleAssistant && f.at.Calls()
		}
		f.inTurn = called
	}
}

// continuesByItself says whether the trunk goes on, at first, with a prompt of the client's own that the model answers at once.
// A user who goes back says something there. The client, which goes on by itself after an interruption, has been seen to hang
// its prompt on the end that an old last-prompt record names (reported of 2.1.245 and 2.1.246).
func (t *trunk) continuesByItself(first *node) bool {
	answer := t.forks[first].winner
	return first.Role == content.RoleUser && first.Meta && answer != nil && answer.Role == content.RoleAssistant
}

// asked is the user's prompt that follows what the client says by itself from first on; first itself if there is none.
func (t *trunk) asked(first *node) *node {
	n := first
	for n != nil && n.Role == content.RoleUser && n.Meta {
		n = t.forks[n].winner
	}
	if n == nil || !n.IsPrompt() {
		return first
	}
	return n
}

// toldLate says whether the trunk leaves a branch only because of a record that the client held back until after the branch had
// ended: that of an API error that was tried again, which is written before the next prompt (reported of 2.1.170).
func (f *fork) toldLate(end *node) bool {
	return f.next != nil && f.next.Role == content.RoleLink && f.next.index > end.index && f.next.When != 0 && f.next.When < end.When
}

// answersBranch says whether the trunk goes on with the output of a call on a branch, at head or below it. An output belongs
// below its call, so nobody has left that branch.
func (f *fork) answersBranch(c *Checker, t *trunk, head *node) bool {
	if f.called == nil {
		f.called = map[*node]bool{}
		call := c.callOf(f.winner)
		for p, steps := call, 0; p != nil && !t.holds(p) && steps < maxSiblings; p, steps = p.up, steps+1 {
			f.called[p] = true
		}
	}
	return f.called[head]
}

// behindOutputs is the first record on the trunk, from n on, that is not an output: parallel calls each have one.
func (t *trunk) behindOutputs(n *node) *node {
	for steps := 0; n.Role == content.RoleResult && steps < maxSiblings; steps++ {
		next := t.forks[n].winner
		if next == nil {
			break
		}
		n = next
	}
	return n
}

// holds says whether a record is on the trunk.
func (t *trunk) holds(n *node) bool { return t.forks[n] != nil && t.forks[n].at == n }

// inAnswer says whether a prompt hangs on a part of an answer that another part follows: a rewind never does that.
func (f *fork) inAnswer() bool {
	if !f.winner.IsPrompt() || f.at.Role != content.RoleAssistant || f.at.Msg == "" {
		return false
	}
	for k := f.at.first; k != nil; k = k.latter {
		if k.Role == content.RoleAssistant && k.Msg == f.at.Msg && k.Sent() && k.dropped == nil {
			return true
		}
	}
	return false
}

// skipsAnswer says whether a prompt hangs on a tool's output, or on another prompt, although the model has answered that to its
// end. A user who goes back picks a prompt, and goes on from that prompt's parent.
func (f *fork) skipsAnswer(t *trunk, head, end *node) bool {
	for end != head && !end.HasMessage() {
		end = end.up
	}
	if f.at == nil || firstSaid(head).Role != content.RoleAssistant || !end.endsTurn() {
		return false
	}
	next := t.behindOutputs(f.winner) // the answer to parallel calls may hang on any of their outputs
	return next.IsPrompt() && (next != f.winner || f.at.Role == content.RoleResult || f.at.IsPrompt() && !f.at.AsksNothing)
}

// goesOn says whether a prompt hangs in the middle of an answer that the trunk goes on with: on a call whose output is there, or on a part
// that another part follows. A user who goes back hangs nothing there, but another client may, or the prompt's parent is wrong.
func (f *fork) goesOn(prompt *node) bool {
	if !prompt.IsPrompt() || f.at == nil || f.at.Role != content.RoleAssistant {
		return false
	}
	if f.winner.Role == content.RoleAssistant {
		return f.at.Msg != "" && f.winner.Msg == f.at.Msg
	}
	return f.winner.isOutputOf(f.at)
}

// isOutputOf says whether a record holds an output of a call that another one holds.
func (n *node) isOutputOf(call *node) bool {
	return slices.ContainsFunc(n.IDs(content.BlockResult), func(id string) bool { return call.Says(content.BlockCall, id) })
}

// waited says whether a prompt waited while a tool ran that the user then interrupted: 2.1.332 hangs it on the call, beside the output, and
// what follows on the output, although its request holds both.
func (f *fork) waited(prompt *node) bool {
	return f.winner != nil && !prompt.AsksNothing && !prompt.Meta && f.goesOn(prompt)
}

// parted says whether a branch begins with a further call of an answer that made several, and the trunk goes on with the output of the one
// before. Without the answer's id, the client does not find the others (2.1.332, measured).
func (f *fork) parted(head *node) bool {
	return head.Role == content.RoleAssistant && head.Msg == "" && f.at == head.up && f.at.Role == content.RoleAssistant && f.at.Msg == "" && f.winner != nil && f.winner.isOutputOf(f.at)
}

// answerBelow is the first answer on the trunk behind a part of another; nil if there is none.
func (t *trunk) answerBelow(part *node) (answer *node) {
	for p := t.tip; p != nil && p != part; p = p.up {
		if p.Role == content.RoleAssistant && p.Sent() && !p.Filler && p.Msg != part.Msg {
			answer = p
		}
	}
	return answer
}

// firstSaid is the first message of a branch, past what the client added where it begins; the branch's head if there is none.
func firstSaid(head *node) *node {
	for steps := 0; head.Role == content.RoleLink && head.first != nil && head.many == 1 && steps < maxSiblings; steps++ {
		head = head.first
	}
	return head
}

// endsTurn says whether a record ends a turn. Up to 2.1.2, clients do not write why the model stopped, or not in each record.
func (n *node) endsTurn() bool {
	return n.Stop == "end_turn" || n.Stop == "" && format.Before(n.Version, firstProgress) && n.Role == content.RoleAssistant && !n.Synthetic && slices.ContainsFunc(n.Blocks, func(b content.Block) bool { return b.Kind == content.BlockText })
}

// movable is the record to hang behind another branch, to put that in front of the rest of the trunk: the next message, or, if
// one more branch leaves the trunk before that message, the first record behind the fork.
func (f *fork) movable() *node {
	for p := f.winner.up; p != nil && p != f.at; p = p.up {
		if p.many > 1 {
			return f.next
		}
	}
	return f.winner
}

// forkOf is where the way up from a record meets the trunk; its at is nil if it does not.
func (t *trunk) forkOf(head *node) *fork {
	if t.forks == nil {
		t.walk()
	}
	f := &fork{}
	var beside []*node
	for p := head.up; p != nil; p = p.up {
		if known := t.forks[p]; known != nil {
			f = known
			break
		}
		beside = append(beside, p)
	}
	for _, p := range beside {
		t.forks[p] = f
	}
	return f
}
