package mend

import (
	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/finding"
)

// olderParents reports answers that name an older record as their parent than what they answer, and hangs each on that: it stands in
// front of them in the file, belongs to the same conversation, and nobody has answered it. Who goes back says something first. Of a
// file with very many it leaves all to what mends branches: each costs the length of the session, and the next pass would find more.
func (c *Checker) olderParents() {
	c.overMarks()
	var answers []*node
	for _, n := range c.nodes {
		if n.up == n.front || !n.besideFront() {
			continue
		}
		if answers = append(answers, n); len(answers) > maxLater {
			return
		}
	}
	for _, n := range answers {
		on, asked := messageAbove(n.up), messageAbove(n.front)
		if on == nil || asked == nil || on == asked || n.front.first != nil || !c.answersFront(n, on, asked) {
			continue
		}
		d := c.add(&draft{about: n, also: []*node{asked}, Finding: finding.Finding{
			Rule: faults.LostBranch, Impact: c.worst(faults.OldAndNewer(finding.Loses, collected(n, on, asked))), Fix: finding.Exact,
			Message: "the record names an older one as its parent than what it follows: the client forgets what came between the two",
		}})
		c.hang(n, n.front, d)
	}
}

// overMarks reports records whose parent is in front of the compaction behind which they stand, and hangs each on what stands in front of
// it, on which nothing else hangs. Only an output belongs on the other side of a compaction, or what somebody says, or runs by hand, who
// goes back to where a prompt was.
func (c *Checker) overMarks() {
	if !c.some.marks {
		return
	}
	var mark *node
	looked := 0
	for _, n := range c.nodes {
		switch {
		case n.Side:
			continue
		case n.Role == content.RoleBoundary:
			if mark = n; !c.summarized(n) { // what stands behind it goes on with what was compacted (lostSummaryBefore)
				mark = nil
			}
			continue
		case mark == nil || n.up == nil || !c.lastPlace(n.up).Less(mark.Pos()) || n.Role == content.RoleResult || n.IsPrompt() && !n.AsksNothing:
			continue
		}
		front := n.front
		if front != nil && front.up == n { // they have changed places
			front = front.front
		}
		if !n.mayFollow(front) || n.Role != content.RoleAssistant && n.besidePrompt() {
			continue
		}
		if looked++; looked > maxLater {
			return
		}
		last := c.beforeCompaction(mark)
		if last == nil || !leads(front, mark, n) || !leads(last, answerHead(n.up), mark) {
			continue
		}
		d := c.add(&draft{about: n, also: []*node{front}, Finding: finding.Finding{
			Rule: faults.LostBranch, Impact: finding.Loses, Fix: finding.Exact,
			Message: "the record names one as its parent that was compacted before: the client sends nothing of the compaction and of what followed it",
		}})
		c.hang(n, front, d)
	}
}

// besidePrompt says whether something that the user said hangs on the same record as this one.
func (n *node) besidePrompt() bool {
	for k, steps := n.up.first, 0; k != nil && steps < maxSiblings; k, steps = k.latter, steps+1 {
		if k != n && k.IsPrompt() {
			return true
		}
	}
	return false
}

// mayFollow says whether a record may belong behind one in front of it, on which nothing else hangs.
func (n *node) mayFollow(f *node) bool {
	return f != nil && f.first == nil && len(n.moves) == 0 && (f.When == 0 || n.When == 0 || f.When <= n.When)
}

// besideFront says whether a record is an answer that hangs elsewhere than on the record in front of it, on which nothing hangs.
func (n *node) besideFront() bool {
	return n.Role == content.RoleAssistant && n.Msg != "" && !n.Side && n.up != nil && n.Sent() && !n.Filler && n.mayFollow(n.front)
}

// messageAbove is the message that a record is, or that it follows with nothing in between but what the client adds.
func messageAbove(n *node) *node {
	for steps := 0; n != nil && n.Role == content.RoleLink && steps < maxOpening; steps++ {
		n = n.up
	}
	if n == nil || !n.HasMessage() {
		return nil
	}
	return n
}

// answersFront says whether an answer goes on from the message that stands in front of it, and not from the older one that it is said
// to hang on.
func (c *Checker) answersFront(n, on, asked *node) bool {
	if on.Msg == n.Msg && on.Role == content.RoleAssistant {
		return false // two parts of one answer, and something else has come between them
	}
	switch {
	case asked.Role == content.RoleAssistant && asked.Msg == n.Msg:
		return c.leadsPast(asked, on)
	case asked.Role == content.RoleResult:
		call := c.callOf(asked)
		return call != nil && !(on.Role == content.RoleResult && c.sameCalls(on, asked)) && c.leadsPast(call, on)
	case asked.IsPrompt() && !asked.AsksNothing && asked.Sent():
		return c.leadsPast(asked, on)
	}
	return false
}

// leadsPast says whether the way up from a record leads to another, or to the call of that: an output may be off the path.
func (c *Checker) leadsPast(n, to *node) bool {
	call := c.callOf(to)
	return leads(n, to, nil) || call != nil && leads(n, call, nil)
}

// collected is what it does to clients that collect the parts of an answer and its outputs wherever they hang, if an answer hangs on an
// older record than what it answers: nothing, where all between the two is of one answer.
func collected(n, on, asked *node) finding.Impact {
	if asked.IsPrompt() {
		return finding.Loses
	}
	for p, steps := asked, 0; p != nil && p != on && steps < maxSiblings; p, steps = p.up, steps+1 {
		if p.Role == content.RoleUser || p.Role == content.RoleAssistant && p.Msg != n.Msg && p.Msg != on.Msg {
			return finding.Loses
		}
	}
	return finding.Notes
}
