package claude

// Whether a branch that is not sent was left on purpose or lost is decided by a list of tests. Each knows some branches for
// certain and leaves the others to those behind it.

// fate is what became of a branch that is not sent.
type fate int

const (
	undecided   fate = iota // the next test decides
	leftBehind              // somebody went back to where it begins, and went on from there: it is as it should be
	lostToOther             // nobody left it: the client has only lost sight of it
)

// sideBranch is a branch that is not sent, and what the tests compare it with.
type sideBranch struct {
	head, end *node
	trunk     *trunk
	fork      *fork // where it leaves the way to the tip
	// rival is the first record that is sent instead, nil if none is. prompt is the user's prompt with which that begins,
	// behind what the client says there by itself; rival where it begins with none.
	rival, prompt *node
}

// fateTests are asked in this order: what somebody has chosen comes before what the shape of the branches shows, that before
// what was noted of a rewind, and that before times, which say least. A branch that no test knows is lost.
var fateTests = []func(*Checker, *sideBranch) fate{
	byEnd,
	byChoice,
	byLaterOutput,
	byPlace,
	byClientsOwnPrompt,
	bySecondOutput,
	byAnswerBegunAnew,
	byRewind,
	byTimes,
	byCircle,
	byTornEnd,
	byVersion,
}

// leftOnPurpose says whether the branch from head to end was left on purpose.
func (c *Checker) leftOnPurpose(head, end *node, t *trunk) bool {
	b := &sideBranch{head: head, end: end, trunk: t, fork: t.forkOf(c, head)}
	b.rival = b.fork.winner
	if b.rival != nil {
		b.prompt = t.asked(b.rival)
	}
	for _, test := range fateTests {
		if f := test(c, b); f != undecided {
			return f == leftBehind
		}
	}
	return false
}

// leftIf is leftBehind if that is so, else undecided.
func leftIf(so bool) fate {
	if so {
		return leftBehind
	}
	return undecided
}

// lostIf is lostToOther if that is so, else undecided.
func lostIf(so bool) fate {
	if so {
		return lostToOther
	}
	return undecided
}

// byEnd decides where nobody went on elsewhere: what hangs on the tip itself is a matter of where the client begins.
func byEnd(c *Checker, b *sideBranch) fate {
	switch at := b.fork.at; {
	case b.rival != nil:
		return undecided
	case at == b.trunk.tip, at == nil, c.leftByChoice(b.head):
		return leftBehind
	}
	return lostToOther
}

// byChoice knows branches that a user of the client, or of hist, left by naming another record to go on from.
func byChoice(c *Checker, b *sideBranch) fate {
	return leftIf(b.rival.isPrompt() && c.leftOut(b.trunk, b.rival, b.head, b.end) || c.leftByChoice(b.head))
}

// byLaterOutput knows branches that what is sent goes on with: it answers one of their calls, or has the rest of an answer that
// begins there.
func byLaterOutput(c *Checker, b *sideBranch) fate {
	return lostIf(b.fork.answersBranch(c, b.trunk, b.head) ||
		b.rival.role == roleAssistant && b.rival.msg != "" && holdsAnswer(b.head, b.end, b.rival))
}

// byPlace knows branches that begin where nobody goes back to, or that are left where a client goes on.
func byPlace(c *Checker, b *sideBranch) fate {
	ownPrompt := b.head.isPrompt()
	middleOfTurn := b.rival.isPrompt() && !ownPrompt && b.fork.inTurn
	middleOfAnswer := !ownPrompt && b.fork.inAnswer() && !c.unfinishedAnswer(b.head, b.end)
	besideSummary := b.fork.at.role == roleBoundary && b.head.summary && !b.rival.summary
	return lostIf(besideSummary || middleOfTurn || middleOfAnswer || b.fork.toldLate(b.end) || b.fork.skipsAnswer(b.head, b.end) || passesOutput(b.trunk.behindOutputs(b.rival), b.end))
}

// byClientsOwnPrompt decides where the client went on by itself: it leaves out only an answer that was interrupted.
func byClientsOwnPrompt(c *Checker, b *sideBranch) fate {
	switch {
	case !b.trunk.continuesByItself(b.rival):
		return undecided
	case c.unfinishedAnswer(b.head, b.end):
		return leftBehind
	}
	return lostToOther
}

// bySecondOutput knows branches behind another output of the same call.
func bySecondOutput(_ *Checker, b *sideBranch) fate { return lostIf(answersAgain(b.head.up, b.rival)) }

// byAnswerBegunAnew decides where an answer, or nothing that was said, is sent instead. An answer is begun anew in front of the
// next prompt, or not at all.
func byAnswerBegunAnew(c *Checker, b *sideBranch) fate {
	if b.prompt.role == roleAssistant && c.asks(b.head, b.end) {
		return lostToOther
	}
	neither := !b.prompt.isPrompt() && b.prompt.role != roleAssistant
	return leftIf(neither || b.head.msg != "" && b.head.msg == b.prompt.msg)
}

// byRewind knows branches of which the client has noted a rewind. Where one goes on behind what another has left so, both are at
// work.
func byRewind(c *Checker, b *sideBranch) fate {
	left := b.prompt.isPrompt() && c.rewound(b.prompt) && leftFor(b.prompt, b.head)
	return leftIf(left || c.rewound(b.head) && !(b.prompt.isPrompt() && goesOnBeside(b.prompt, b.trunk.tip, b.head)))
}

// byTimes knows branches that no rewind explains: who comes later in the file was written earlier, or something was said on
// one branch after the other was begun.
func byTimes(_ *Checker, b *sideBranch) fate {
	head, end, prompt, tip := b.head, b.end, b.prompt, b.trunk.tip
	backwards := end.when != 0 && head.index > prompt.index && end.when < prompt.when ||
		tip.when != 0 && head.index < prompt.index && tip.when < head.when
	return lostIf(backwards || goesOnBeside(head, end, prompt) ||
		head.isPrompt() && prompt.isPrompt() && goesOnBeside(prompt, tip, head))
}

// byCircle knows branches through which a circle of parents leads, so that they are sent: to mend the circle is not to leave them.
func byCircle(c *Checker, b *sideBranch) fate {
	return lostIf(c.circled != nil && c.circled.has(b.head))
}

// byTornEnd knows branches that the client sends of the file as it is, because the prompt for which they would be left is the last line,
// and was cut: putting back what was written of it is not to lose them.
func byTornEnd(_ *Checker, b *sideBranch) fate { return lostIf(b.rival.torn && b.rival.first == nil) }

// byVersion takes a branch of a client that notes no rewinds for one that was left, if it was over before the other began and
// both were written by the same client.
func byVersion(c *Checker, b *sideBranch) fate {
	if !before(c.written, firstNoted) || c.foreign(b.head) || c.foreign(b.prompt) {
		return lostToOther
	}
	overlap := b.end.when != 0 && b.prompt.when != 0 && b.end.when > b.prompt.when && b.trunk.tip.when >= b.head.when
	return leftIf(!overlap || b.head.role == roleAssistant)
}

// firstNoted is the first version that is known to note rewinds; 2.1.215 does not.
const firstNoted = "2.1.330"

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
