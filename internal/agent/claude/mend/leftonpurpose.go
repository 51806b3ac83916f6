package mend

import (
	"slices"

	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/session"
)

// A list of tests decides whether a branch that is not sent was left on purpose or lost. Each test is certain about some
// branches, and leaves the others to the next.

// fate is what became of a branch that is not sent.
type fate int

const (
	undecided   fate = iota // the next test decides
	leftBehind              // the user went back to where it begins, and went on from there: nothing is wrong
	lostToOther             // nobody left it: the client fails to reach it
)

// sideBranch is a branch that is not sent, and what the tests compare it with.
type sideBranch struct {
	head, end *node
	trunk     *trunk
	fork      *fork // where it leaves the way to the tip
	// rival is the first record that is sent instead, nil if none is. prompt is the first of the user's own prompts there,
	// behind what the client says by itself; it is rival if there is no such prompt.
	rival, prompt *node
}

// fateTests in the order in which they are asked, the best evidence first: what somebody chose, then the shape of the branches,
// then noted rewinds, and times last. A branch about which no test is certain is lost.
var fateTests = []func(*Checker, *sideBranch) fate{
	byEnd,
	byWords,
	byCopy,
	byPartsAnew,
	byChoice,
	byLaterOutput,
	byPlace,
	byFiller,
	byClientsOwnPrompt,
	bySecondOutput,
	byAnswerBegunAnew,
	byRewind,
	byTimes,
	byCircle,
	byTornEnd,
	bySession,
	byConflict,
	byVersion,
}

// leftOnPurpose says whether the branch from head to end was left on purpose.
func (c *Checker) leftOnPurpose(head, end *node, t *trunk) bool {
	b := &sideBranch{head: head, end: end, trunk: t, fork: c.forkOf(t, head)}
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

// leftIf is leftBehind if the condition holds, else undecided.
func leftIf(so bool) fate {
	if so {
		return leftBehind
	}
	return undecided
}

// lostIf is lostToOther if the condition holds, else undecided.
func lostIf(so bool) fate {
	if so {
		return lostToOther
	}
	return undecided
}

// byEnd decides if nothing else is sent in the branch's place. A branch that hangs on the tip itself is left to wrongLeaf: it
// is about where the client begins.
func byEnd(c *Checker, b *sideBranch) fate {
	switch at := b.fork.at; {
	case b.rival != nil:
		return undecided
	case at == b.trunk.tip, at == nil, c.leftByChoice(b.head):
		return leftBehind
	}
	return lostToOther
}

// byWords is certain that a branch was left if the model has said nothing on it, and the client goes on by itself in its place: so it
// resumes such a session, from the record in front of the answer (2.1.100, measured).
func byWords(c *Checker, b *sideBranch) fate {
	if b.rival.Role != content.RoleUser || !b.rival.Meta {
		return undecided
	}
	return leftIf(!b.end.upTo(b.head, func(n *node) bool { return n.HasMessage() && (n.Role != content.RoleAssistant || c.saysMore(n)) }))
}

// byCopy is certain that nothing is lost with a branch if all its messages are sent in its place, byte for byte: a program that keeps the
// files of two machines the same has left a turn in the session twice, under other ids.
func byCopy(_ *Checker, b *sideBranch) fate {
	if firstSaid(b.head).Message != b.rival.Message {
		return undecided
	}
	var said []*node
	for n := b.end; n != nil && n != b.fork.at; n = n.up {
		if n.HasMessage() {
			said = append(said, n)
		}
	}
	sent := b.rival
	for _, n := range slices.Backward(said) {
		if sent == nil || n.Message != sent.Message {
			return undecided
		}
		sent = b.trunk.forks[sent].winner
	}
	return leftBehind
}

// byPartsAnew is certain that nothing is lost with a branch if each of its messages was written anew on the way to the tip.
func byPartsAnew(_ *Checker, b *sideBranch) fate {
	return leftIf(!b.end.upTo(b.head, func(n *node) bool { return n.HasMessage() && !b.trunk.hasAnew(n) }))
}

// partAt is a part of the conversation as it was written at one time.
type partAt struct {
	role content.Role
	part string
	when int64 // as the record has it; 0 for what was written anew with others at one moment
}

// hasAnew says whether a record was written anew on the trunk, with its time, or with others at one moment: that may be far behind it in the
// file. See samePart.
func (t *trunk) hasAnew(n *node) bool {
	if t.parts == nil {
		t.parts = map[partAt]bool{}
		for p := t.tip; p != nil; p = p.up {
			if part := p.part(); p.anew {
				t.parts[partAt{p.Role, part, 0}] = true
			} else if p.When != 0 {
				t.parts[partAt{p.Role, part, p.When}] = true
			}
		}
	}
	part := n.part()
	return part != "" && (t.parts[partAt{n.Role, part, n.When}] || t.parts[partAt{n.Role, part, 0}])
}

// part names the part of the conversation that a record holds: see samePart. "" if nothing that it says has an id.
func (n *node) part() string {
	switch {
	case n.Role == content.RoleAssistant && n.Msg != "":
		return "answer " + n.Msg
	case n.Role == content.RoleAssistant:
		for id := range n.Each(content.BlockCall) {
			return "call " + id
		}
	case n.Role == content.RoleResult && len(n.Blocks) > 0:
		return "output " + n.Blocks[0].ID
	case n.first != nil && n.first.Msg != "":
		return "prompt " + n.first.Msg
	}
	return ""
}

// byChoice is certain that a branch was left if a user of the client, or of hist, named another record to go on from.
func byChoice(c *Checker, b *sideBranch) fate {
	return leftIf(b.rival.IsPrompt() && c.leftOut(b.trunk, b.rival, b.head, b.end) || c.leftByChoice(b.head))
}

// byLaterOutput is certain that a branch is lost if what is sent goes on with it: it holds an output of one of the branch's
// calls.
func byLaterOutput(c *Checker, b *sideBranch) fate {
	return lostIf(b.fork.answersBranch(c, b.trunk, b.head))
}

// byPlace is certain that a branch is lost if nobody goes back to where it begins, or if a client would have gone on from it.
func byPlace(c *Checker, b *sideBranch) fate {
	ownPrompt := b.head.IsPrompt()
	middleOfTurn := b.rival.IsPrompt() && !ownPrompt && b.fork.inTurn
	middleOfAnswer := !ownPrompt && b.fork.inAnswer() && !c.unfinishedAnswer(b.head, b.end)
	besideSummary := b.fork.at.Role == content.RoleBoundary && b.head.Summary && !b.rival.Summary && !c.rewritten(b.rival)
	return lostIf(besideSummary || middleOfTurn || middleOfAnswer || b.fork.toldLate(b.end) || b.fork.skipsAnswer(b.trunk, b.head, b.end) || b.fork.goesOn(b.head) || b.fork.parted(b.head))
}

// rewritten says whether the user went back to the summary of a compaction, which a terminal lists among the prompts, and changed it
// (1.0.128 and 2.1.45, measured).
func (c *Checker) rewritten(n *node) bool {
	if !n.IsPrompt() || len(n.moves) > 0 {
		return false
	}
	typed := n.Continues || c.snapshots[n.UUID] || format.Before(n.Version, firstSnapshots) && c.some.byHand
	return c.rewound(n) || format.Before(n.Version, firstNoted) && typed
}

// byFiller is certain that a branch is lost if it is an answer that came after the client had gone on by itself beside it: another client
// had resumed the session, and took what waited for that answer for unanswered.
func byFiller(_ *Checker, b *sideBranch) fate {
	answer := firstSaid(b.head)
	return lostIf(b.rival.Filler && answer.Role == content.RoleAssistant && answer.Sent() && !answer.Filler && answer.index > b.rival.index && answer.When >= b.rival.When)
}

// byClientsOwnPrompt decides if what is sent begins with the client's own prompt: the client leaves out only an interrupted
// answer.
func byClientsOwnPrompt(c *Checker, b *sideBranch) fate {
	switch {
	case !b.trunk.continuesByItself(b.rival), b.rival.AsksNothing && !answered(b.head, b.end):
		return undecided // a prompt that was taken back before anything was said, and a command in its place
	case c.unfinishedAnswer(b.head, b.end):
		return leftBehind
	}
	return lostToOther
}

// bySecondOutput is certain that a branch is lost if it follows one of two outputs of the same call, and the other is sent.
func bySecondOutput(_ *Checker, b *sideBranch) fate { return lostIf(answersAgain(b.head.up, b.rival)) }

// byAnswerBegunAnew decides if an answer is sent instead, or something that nobody said. A client may begin an answer anew, but
// only before the next prompt.
func byAnswerBegunAnew(c *Checker, b *sideBranch) fate {
	if b.prompt.Role == content.RoleAssistant && asks(b.head, b.end) {
		return lostToOther
	}
	neither := !b.prompt.IsPrompt() && b.prompt.Role != content.RoleAssistant
	return leftIf(neither || b.head.Msg != "" && b.head.Msg == b.prompt.Msg)
}

// byRewind is certain that a branch was left if the client noted a rewind from it. That does not hold if what is sent went on
// after this branch had begun: then two clients are at work.
func byRewind(c *Checker, b *sideBranch) fate {
	left := b.prompt.IsPrompt() && c.rewound(b.prompt) && leftFor(b.prompt, b.head)
	return leftIf(left || c.rewound(b.head) && !(b.prompt.IsPrompt() && goesOnBeside(b.prompt, b.trunk.tip, b.head)))
}

// byTimes is certain that a branch is lost if no rewind can explain its times: what comes later in the file was written
// earlier, or one branch went on after the other had begun.
func byTimes(_ *Checker, b *sideBranch) fate {
	head, end, prompt, tip := b.head, b.end, b.prompt, b.trunk.tip
	backwards := end.When != 0 && head.index > prompt.index && end.When < prompt.When ||
		tip.When != 0 && head.index < prompt.index && tip.When < head.When
	return lostIf(backwards || goesOnBeside(head, end, prompt) ||
		head.IsPrompt() && prompt.IsPrompt() && goesOnBeside(prompt, tip, head))
}

// byCircle is certain that a branch is lost if it is sent only because a circle of parents leads through it: mending the circle
// must not take it away.
func byCircle(c *Checker, b *sideBranch) fate {
	return lostIf(c.circled != nil && c.circled.has(b.head))
}

// byTornEnd keeps a branch that the client sends as long as the prompt that would replace it is a torn last line, which the client
// skips: a repair that completes the prompt must not cost that branch.
func byTornEnd(_ *Checker, b *sideBranch) fate { return lostIf(b.rival.torn && b.rival.first == nil) }

// bySession keeps a branch that was written in another session than what is sent instead: somebody has joined a session and a fork of
// it, and wants both. That does not hold if the branch, too, goes on in the session of what is sent, or if the titles of older sessions
// stand in front: 1.0.72 writes a conversation of 1.0.17 that it resumes into its own file, with the old session's id.
func bySession(c *Checker, b *sideBranch) fate {
	return lostIf(b.head.Session != "" && b.prompt.Session != "" && b.head.Session != b.prompt.Session && b.end.Session != b.prompt.Session && len(c.titled) == 0)
}

// byConflict keeps a branch if it and what is sent instead are on two sides of a conflict that a tool like git has marked in the file.
func byConflict(c *Checker, b *sideBranch) fate {
	from, to := b.head.Pos(), b.prompt.Pos()
	if to.Less(from) {
		from, to = to, from
	}
	return lostIf(slices.ContainsFunc(c.sides, func(at session.Pos) bool { return from.Less(at) && at.Less(to) }))
}

// byVersion decides for clients that note no rewinds: a branch was left if it had ended before the other began, and the same
// client wrote both.
func byVersion(c *Checker, b *sideBranch) fate {
	if !format.Before(c.written, firstNoted) || c.foreign(b.head) || c.foreign(b.prompt) || c.saidLast(b) {
		return lostToOther
	}
	overlap := b.end.When != 0 && b.prompt.When != 0 && b.end.When > b.prompt.When && b.trunk.tip.When >= b.head.When
	return leftIf(!overlap || b.head.Role == content.RoleAssistant)
}

// saidLast says whether a branch came last of all, by place and time, and the file was never closed behind it: nobody has left it. The
// client was killed after a rewind (2.1.270, measured: the next one goes on from the end that was noted before).
func (c *Checker) saidLast(b *sideBranch) bool {
	tip := b.trunk.tip
	return !c.opts.Live && c.leafAt.Pos.Line > 0 && c.leafAt.Pos.Less(b.head.Pos()) && tip.index < b.head.index && tip.When < b.head.When
}

// firstNoted is the first version that is known to note rewinds; 2.1.215 does not.
const firstNoted = "2.1.330"

// goesOnBeside says whether something was said on a branch after another was begun beside it. A client that goes back says
// nothing more on the old branch, so two clients wrote in turns.
func goesOnBeside(head, end, winner *node) bool {
	if head.index > winner.index {
		return false
	}
	for n := end; n != nil && n != head && n.index > winner.index; n = n.up {
		if n.speaks() && !n.AsksNothing && !n.Meta && !n.Filler {
			return true
		}
	}
	return false
}

// leftFor says whether a rewind to a prompt's parent has left this branch: it hangs there, too, or no earlier prompt does.
func leftFor(prompt, head *node) bool {
	if head.up == prompt.up {
		return true
	}
	for n := prompt.up.first; n != nil; n = n.latter {
		if n.index < prompt.index && n.IsPrompt() {
			return false
		}
	}
	return true
}

// answersAgain says whether two records answer the same call. If a client resumes a session in which another still runs a tool,
// it tells the model that the call was interrupted, and goes on from there, while the other goes on from the real output
// (2.1.330, measured). A single client goes on from only one of the two.
func answersAgain(one, other *node) bool {
	if one == other || one.Role != content.RoleResult || other.Role != content.RoleResult {
		return false
	}
	for id := range one.Each(content.BlockResult) {
		if other.Says(content.BlockResult, id) {
			return true
		}
	}
	return false
}

// unfinishedAnswer says whether a branch is no more than an answer none of whose calls has an output. A client that was
// interrupted there leaves it out by itself when it goes on (2.1.50 and 2.1.150, measured).
func (c *Checker) unfinishedAnswer(head, end *node) bool {
	called := false
	for m := end; m != nil; m = m.up {
		if m.HasMessage() && (m.Role != content.RoleAssistant || m.Msg != head.Msg) {
			return false
		}
		for id := range m.Each(content.BlockCall) {
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

// answered says whether the model says or calls anything on the way up from the end of a branch to its head.
func answered(head, end *node) bool {
	return end.upTo(head, func(n *node) bool {
		return n.Role == content.RoleAssistant && n.speaks() && slices.ContainsFunc(n.Blocks, func(b content.Block) bool { return b.Kind != content.BlockThinking })
	})
}

// asks says whether there is a prompt on the way up from the end of a branch to its head.
func asks(head, end *node) bool {
	return end.upTo(head, func(n *node) bool { return n.IsPrompt() && !n.AsksNothing })
}

// upTo says whether something holds of a record, or of one on the way up from it to another, that included.
func (n *node) upTo(head *node, holds func(*node) bool) bool {
	for ; n != nil; n = n.up {
		if holds(n) {
			return true
		}
		if n == head {
			break
		}
	}
	return false
}
