package claude

import (
	"slices"
)

// trunk is the way from a tip to its root, and what hangs on it.
type trunk struct {
	tip   *node
	forks map[*node]*fork // of the records on the way, and of those looked at beside it; nil until one is asked for
}

// fork is what can be said of a branch that leaves the way to the tip at a record.
type fork struct {
	at     *node
	winner *node          // the first record behind it on the way that says something, nil if none does
	next   *node          // the record behind it on the way, nil at the tip
	inTurn bool           // it stands in the middle of a turn: behind a call
	called map[*node]bool // from the call that the winner answers up to the way, where it stands beside that; nil until it is asked for
}

func (c *Checker) trunkOf(tip *node) *trunk { return &trunk{tip: tip} }

// walk goes from the tip to the root.
func (t *trunk) walk() {
	t.forks = map[*node]*fork{}
	var said, next *node
	var way []*fork
	for p := t.tip; p != nil; p = p.up {
		f := &fork{at: p, winner: said, next: next}
		next = p
		t.forks[p] = f
		way = append(way, f)
		if p.hasMessage() {
			said = p
		}
	}
	called := false
	for _, f := range slices.Backward(way) {
		if f.at.hasMessage() {
			called = f.at.role == roleAssistant && f.at.calls()
		}
		f.inTurn = called
	}
}

// continuesByItself says whether a branch on the way to the tip begins with a prompt of the client's own that the model
// answers at once. Somebody who goes back says something there; the client, which goes on by itself after an interruption,
// has been seen to hang its prompt on the end that an old last-prompt record names (reported of 2.1.245 and 2.1.246).
func (t *trunk) continuesByItself(first *node) bool {
	answer := t.forks[first].winner
	return first.role == roleUser && first.meta && answer != nil && answer.role == roleAssistant
}

// asked is the prompt that follows what the client itself says where the way to the tip begins; else what is given.
func (t *trunk) asked(first *node) *node {
	n := first
	for n != nil && n.role == roleUser && n.meta {
		n = t.forks[n].winner
	}
	if n == nil || !n.isPrompt() {
		return first
	}
	return n
}

// toldLate says whether the way that is sent leaves a branch over something that the client only noted when the branch was over:
// an error of the API that was tried again, whose record is kept back until the next prompt (reported of 2.1.170).
func (f *fork) toldLate(end *node) bool {
	return f.next != nil && f.next.role == roleLink && f.next.index > end.index && f.next.when != 0 && f.next.when < end.when
}

// answersBranch says whether the way to the tip goes on with the output of a call that stands on a branch, at or below a record:
// an output hangs on its call or behind it, so nobody has left that branch.
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

// behindOutputs is the first record on the way to the tip, from one on, that is no output: of parallel calls each has its own.
func (t *trunk) behindOutputs(n *node) *node {
	for steps := 0; n.role == roleResult && steps < maxSiblings; steps++ {
		next := t.forks[n].winner
		if next == nil {
			break
		}
		n = next
	}
	return n
}

// holds says whether a record stands on the way.
func (t *trunk) holds(n *node) bool { return t.forks[n] != nil && t.forks[n].at == n }

// inAnswer says whether a prompt hangs on a part of an answer that another part follows: nobody goes back there.
func (f *fork) inAnswer() bool {
	if !f.winner.isPrompt() || f.at.role != roleAssistant || f.at.msg == "" {
		return false
	}
	for k := f.at.first; k != nil; k = k.latter {
		if k.role == roleAssistant && k.msg == f.at.msg && k.sent() && k.dropped == nil {
			return true
		}
	}
	return false
}

// skipsAnswer says whether a prompt hangs on a tool's output, or on another prompt, though the model has answered that to its
// end: who goes back chooses a prompt, and goes on where that hung.
func (f *fork) skipsAnswer(head, end *node) bool {
	for end != head && !end.hasMessage() {
		end = end.up
	}
	return f.at != nil && (f.at.role == roleResult || f.at.isPrompt() && !f.at.asksNothing) && f.winner.isPrompt() && firstSaid(head).role == roleAssistant && end.endsTurn()
}

// firstSaid is the first message of a branch, behind what the client has added where it begins; that where none follows.
func firstSaid(head *node) *node {
	for steps := 0; head.role == roleLink && head.first != nil && head.many == 1 && steps < maxSiblings; steps++ {
		head = head.first
	}
	return head
}

// endsTurn says whether a turn is over with a record: up to 2.1.2 clients do not write why the model stopped, or not in each record.
func (n *node) endsTurn() bool {
	return n.stop == "end_turn" || n.stop == "" && n.version != "" && before(n.version, firstProgress) && n.role == roleAssistant && !n.synthetic && slices.ContainsFunc(n.blocks, func(b block) bool { return b.kind == blockText })
}

// movable is what is hung elsewhere to put another branch in front of the way to the tip: the first record that says something,
// or what that hangs on, if a branch beside it was left there on purpose.
func (f *fork) movable() *node {
	for p := f.winner.up; p != nil && p != f.at; p = p.up {
		if p.many > 1 {
			return f.next
		}
	}
	return f.winner
}

// forkOf is where the way up from a record meets the trunk; without a place in the tree where it does not.
func (t *trunk) forkOf(c *Checker, head *node) *fork {
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
