package mend

import (
	"cmp"
	"slices"

	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/agent/claude/reader"
	"github.com/hist-cli/hist/internal/finding"
)

// cycles cuts every circle of parents: at a record that was written before its parent, judged by both place and time, or else
// at the circle's first record in the file. If the circle leads through the later copy of a record whose earlier one had another
// parent, it is cut there, and that parent is the right one.
func (c *Checker) cycles() {
	up := make([]int32, len(c.nodes))
	for i, n := range c.nodes {
		if up[i] = reader.None; n.up != nil {
			up[i] = int32(n.up.index)
		}
	}
	var cut []*node
	for i, at := range reader.Circles(up) {
		first := c.nodes[at]
		cut = append(cut, first)
		for n := first.up; n != first && !cut[i].beforeParent(); n = n.up {
			if n.beforeParent() {
				cut[i] = n
			}
		}
		for n := first.up; len(c.saidBefore) > 0 && c.saidBefore[cut[i]] == nil; n = n.up {
			if c.saidBefore[n] != nil {
				cut[i] = n
			}
			if n == first {
				break
			}
		}
	}
	for _, first := range cut {
		first.up, first.above = nil, nil // with all circles cut, every way up has an end
	}
	for _, first := range cut {
		to := cmp.Or(c.before(first), c.healed(first)) // the last if the session's first records have changed places
		message := "the record is its own ancestor"
		if first.Parent == first.UUID {
			message = "the record is its own parent"
		}
		d := c.find(first, faults.ParentCycle, message)
		d.Impact = c.worst(faults.OldAndNewer(finding.Blocks, finding.Loses))
		if c.healed(first) == to && !slices.ContainsFunc(c.readers(), cutsElsewhere) {
			d.Impact = c.worst(faults.OldAndNewer(finding.Blocks, finding.Notes))
		}
		c.hang(first, to, d)
		first.callParent("") // the id that it named is wrong and must not be used again
	}
}

// cutsElsewhere says whether a version finds lost parents by time, but does not cut a circle at its newest record. It then
// loses what comes before the circle (measured: 2.1.100 does, 2.1.120 does not).
func cutsElsewhere(version string) bool {
	return !format.Before(version, "2.1.100") && format.Before(version, "2.1.120")
}

// maxLater is how many records with a later parent are examined: each costs the length of the session.
const maxLater = 100

// cutLater finds records whose parent was written after them, judged by both place and time, and cuts them off: a record can't
// answer what did not exist yet. It leaves out records that have merely changed places: moved lines keep their times, a wrong
// clock leaves the places, and where two clients' turns were put one after the other, what stands in front of the record is
// above its parent, too. A prompt may have been moved behind a compaction that another client made meanwhile, but nothing that
// was compacted may; nor may the prompt with which the session begins hang on its own answer.
func (c *Checker) cutLater() (cut []*node) {
	past := c.pastTheirMarks()
	tried := 0
	for _, n := range c.nodes {
		if !n.beforeParent() {
			continue
		}
		if !past[n] {
			if n.IsPrompt() && !c.beginsAnswered(n) || opening(n.up) && !behindMarkAfter(n.up, n, maxOpening) || addedLate(n) {
				continue
			}
			if tried++; tried > maxLater {
				return cut
			}
			if !inFrontOf(n, n.up) && !n.IsPrompt() {
				continue
			}
		}
		n.up, n.above = nil, nil
		cut = append(cut, n)
	}
	return cut
}

// beginsAnswered says whether a prompt is the first record of the conversation, and hangs below an answer, or what the client
// added to a prompt, that hangs on nothing in the file.
func (c *Checker) beginsAnswered(n *node) bool {
	if n.index != c.firstIndex() || c.some.marks {
		return false
	}
	root := n.up
	for steps := 0; root.up != nil && root.up != n && steps < maxSiblings; steps++ {
		root = root.up
	}
	return root.up == nil && (root.Role == content.RoleAssistant || root.Role == content.RoleLink)
}

// behindMarkAfter says whether a record hangs, with no more than so many records in between, on the mark of a compaction that stands
// behind another record: that one was compacted.
func behindMarkAfter(n, other *node, within int) bool {
	for steps := 0; n != nil && n.Role != content.RoleBoundary && steps < within; steps++ {
		n = n.up
	}
	return n != nil && n.Role == content.RoleBoundary && n.index > other.index
}

// pastTheirMarks are records that were compacted, but whose parent is the mark of that very compaction, or a record behind it.
func (c *Checker) pastTheirMarks() map[*node]bool {
	if !c.some.marks {
		return nil
	}
	past, seen := map[*node]bool{}, map[*node]bool{}
	for _, mark := range c.nodes {
		if mark.Role != content.RoleBoundary || mark.Side {
			continue
		}
		last := c.lastKept(mark)
		if last == nil {
			last = c.ids.get(mark.Ref2)
		}
		for n := last; n != nil && n.index < mark.index && !seen[n]; n = n.up {
			seen[n] = true
			past[n] = n.up != nil && n.up.index >= mark.index
		}
	}
	return past
}

// beforeParent says whether a record was written before its parent, judged by both place and time.
func (n *node) beforeParent() bool {
	return n.up != nil && !n.Side && !n.up.Side && n.writtenBefore(n.up)
}

// writtenBefore says whether a record was written before another, judged by both place and time.
func (n *node) writtenBefore(other *node) bool {
	return n.index < other.index && n.When != 0 && other.When > n.When+writeTime
}

// inFrontOf says whether what stands in front of a record is not above its parent: then the record belongs behind that.
func inFrontOf(n, parent *node) bool { return n.front != nil && !leads(parent, n.front, n) }

// leads says whether the way up from one record reaches a second one before it reaches a third.
func leads(from, to, round *node) bool {
	seen := map[*node]bool{}
	for n := from; n != nil && n != round && !seen[n]; n = n.up {
		if n == to {
			return true
		}
		seen[n] = true
	}
	return false
}

// laterParents reports the records that cutLater cut off, and hangs each on its likeliest parent in front of it.
func (c *Checker) laterParents(cut []*node) {
	for _, n := range cut {
		d := c.find(n, faults.BrokenParent, "the record's parent was written after it: the client follows it, and forgets what came before this record")
		c.hang(n, c.before(n), d)
		n.callParent("")
	}
}

// olderParents reports answers that name an older record as their parent than what they answer, and hangs each on that: it stands in
// front of them in the file, belongs to the same conversation, and nobody has answered it. Who goes back says something first. Of a
// file with very many it leaves all to what mends branches: each costs the length of the session, and the next pass would find more.
func (c *Checker) olderParents() {
	c.overMarks()
	if !c.aside && len(c.found) == 0 {
		return
	}
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
		d := c.find(n, faults.LostBranch, "the record names an older one as its parent than what it follows: the client forgets what came between the two")
		d.also, d.Impact = []*node{asked}, c.worst(faults.OldAndNewer(finding.Loses, collected(n, on, asked)))
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
		d := c.find(n, faults.LostBranch, "the record names one as its parent that was compacted before: the client sends nothing of the compaction and of what followed it")
		d.also = []*node{front}
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
	if n = overLinks(n); n != nil && n.HasMessage() {
		return n
	}
	return nil
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
