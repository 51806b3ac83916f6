package mend

import (
	"slices"

	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/finding"
)

// overtaken mends turns that a second client added to what the first one was compacting meanwhile. They hang in front of the
// compaction's mark, and neither the summary nor what follows it knows of them. What wrongly hangs on such a turn in the file is mended
// with it, although it is not sent: it would be brought behind the compaction, too.
func (c *Checker) overtaken() {
	c.overtakenTurns()
	if len(c.brought) == 0 {
		return
	}
	for _, n := range c.nodes {
		if moved := c.ids.get(n.parentWas()); len(n.moves) > 0 && !c.brought[n] && c.brought[moved] {
			by := n.moves[len(n.moves)-1].by
			by.also = append(by.also, moved)
		}
	}
}

func (c *Checker) overtakenTurns() {
	if !c.some.anew && len(c.found) == 0 {
		return
	}
	tip := c.tipOf(c.leaf)
	mark := markOf(tip)
	if mark == nil {
		c.passedOver(tip)
		return
	}
	mended := 0
	for seen := map[*node]bool{}; mark != nil && !seen[mark] && len(seen) <= maxMarks; {
		seen[mark] = true
		last := c.beforeCompaction(mark)
		if last == nil || under(last, mark) {
			return
		}
		tip, mended = c.overtakenBy(mark, last, tip, mended)
		mark = markOf(last)
	}
}

// maxMarks is how many compactions are examined: each costs the length of the session.
const maxMarks = 12

// overtakenBy mends such turns in front of one mark, where what is sent ends at a tip. It returns the tip of the result, and
// how many turns are mended so far.
func (c *Checker) overtakenBy(mark, last, tip *node, mended int) (*node, int) {
	compacted := c.trunkOf(last)
	compacted.walk()
	for _, head := range c.nodes {
		if head.Side || head.dropped != nil || head.Role == content.RoleResult || compacted.forks[head] != nil || compacted.forks[head.up] == nil {
			continue
		}
		end, answered := c.branchEnd(head)
		if !answered || !comesAfter(end, mark) && !compacted.inTurns(head, end) || c.leftInFront(head, end, mark, tip, compacted) {
			continue
		}
		if !head.IsPrompt() { // it may belong where it hangs, and a look costs the length of the session
			if mended++; mended > maxBranches {
				continue
			}
			if head = c.movableBehind(head, end, tip); head == nil {
				continue
			}
		}
		d := c.find(head, faults.LostBranch, "the history was compacted while another client continued here: the client sends nothing of this turn, and the summary does not mention it").anyway()
		if mended++; mended > maxBranches || c.stuckInFront(head, end, mark) {
			d.Fix = finding.NoFix
			continue
		}
		tip = c.behindCompaction(d, head, end, tip)
		c.bring(head, end)
	}
	return tip, mended
}

// inTurns says whether two clients wrote the trunk and a branch in turns: then what one of them compacts holds nothing of the
// other.
func (t *trunk) inTurns(head, end *node) bool {
	winner := t.forkOf(head).winner
	return winner != nil && goesOnBeside(head, end, winner)
}

// passedOver mends a session whose tip is on a turn that another client added in front of a compaction: the client sends
// nothing of what followed the compaction.
func (c *Checker) passedOver(tip *node) {
	if tip == nil || !c.some.anew {
		return
	}
	t := c.trunkOf(tip)
	t.walk()
	for _, mark := range slices.Backward(c.nodes) {
		if !mark.BeginsAnew() || mark.Side || mark.dropped != nil || mark.up != nil {
			continue
		}
		_, answered := c.branchEnd(mark)
		end := c.latestBelow(mark)
		head := c.wentOnInFront(t, mark, end)
		if head != nil {
			head = c.movableBehind(head, tip, end)
		}
		if head == nil || !answered || head.AsksNothing || end.index <= mark.index || !comesAfter(tip, mark) || c.rewound(head) || c.leftByChoice(mark) || c.stuckInFront(head, tip, mark) {
			return
		}
		d := c.find(mark, faults.LostBranch, "the session went on from before this compaction, as where two clients have it open, and the client follows that: it sends nothing of what was said in between").anyway()
		if now := c.behindCompaction(d, head, tip, end); now != tip {
			c.pointAt(d, now, false)
		}
		c.bring(head, tip)
		return
	}
}

// wentOnInFront is the record with which the way to the tip leaves what was compacted. That way was not a rewind if it goes on
// from the last compacted record, or if it leaves beside that but stands in front of what was last said behind the mark, or is
// older than the mark, or if the client says that the session ends behind the mark, or if nothing else tells of a rewind. nil if there is no
// such record.
func (c *Checker) wentOnInFront(t *trunk, mark, end *node) *node {
	for end != mark && !end.speaks() {
		end = end.up
	}
	for steps := 0; mark != nil && steps < maxMarks; steps++ {
		last := c.beforeCompaction(mark)
		if last == nil {
			return nil
		}
		if on := t.forks[last]; on != nil {
			for on.next != nil && (on.next.new != nil || on.next.Role == content.RoleResult) { // the rest of the turn that was compacted
				on = t.forks[on.next]
			}
			return on.next
		}
		fork := t.forkOf(last)
		if next := fork.next; next != nil && (next.index < end.index || writtenEarlier(t.tip, mark) || under(c.ids.get(c.leaf), mark) ||
			!c.leftOnPurpose(headBelow(fork.at, last), last, t)) {
			return next
		}
		mark = markOf(last)
	}
	return nil
}

// headBelow is the record below another one with which the way to a third begins.
func headBelow(top, end *node) *node {
	for end.up != top {
		end = end.up
	}
	return end
}

// writtenEarlier says whether a record has an earlier time than another.
func writtenEarlier(n, than *node) bool { return n.When != 0 && n.When < than.When }

// stuckInFront says whether records of a branch stand in front of a mark, where no client sends records that hang behind it,
// and can't be moved.
func (c *Checker) stuckInFront(head, end, mark *node) bool {
	if len(mark.Keeps) == 0 || !c.newTarget() || min(head.index, end.index) > mark.index {
		return false
	}
	for n := end; n != head; n = n.up {
		if n.changed() {
			return true
		}
	}
	return head.changedInside() || mark.changed() || // what the head hangs on is changed in any case
		!c.chosen(&draft{Finding: finding.Finding{Rule: faults.RecordOrder, Impact: finding.Loses, Fix: finding.Exact}})
}

// bring marks the records of a branch as moved behind the compaction in the tree, wherever they stand in the file.
func (c *Checker) bring(head, end *node) {
	if c.brought == nil {
		c.brought = map[*node]bool{}
	}
	for n := end; n != head.up; n = n.up {
		c.brought[n] = true
	}
}

// markOf is the mark of the compaction with which what is sent begins; nil if it does not begin with one.
func markOf(tip *node) *node {
	root := tip
	for root != nil && root.up != nil {
		root = root.up
	}
	if root == nil || !root.BeginsAnew() {
		return nil
	}
	return root
}

// comesAfter says whether a record was written after a compaction's mark, judged by place or by time.
func comesAfter(n, mark *node) bool {
	return n.index > mark.index || n.When != 0 && mark.When != 0 && n.When > mark.When
}

// leftInFront says whether a branch of what was compacted was left on purpose. A branch that hangs on the last compacted record
// was not: the mark is what was written there instead. A user who goes back to before a mark goes on from there, not behind the
// mark.
func (c *Checker) leftInFront(head, end, mark, tip *node, compacted *trunk) bool {
	if head.up == compacted.tip || head.index > mark.index && (tip.index > end.index || goesOnBeside(mark, tip, head)) {
		return c.rewound(head) || c.leftByChoice(head)
	}
	return c.leftOnPurpose(head, end, compacted)
}

// movableBehind is the first record of a branch that can follow a compaction: its head, or else its first prompt. Other records
// that are older than the parent they would get answer what they hang on, and are a part of what was compacted. nil if there is
// none.
func (c *Checker) movableBehind(head, end, tip *node) *node {
	to := tip
	if next := promptAfter(end, tip); next != nil {
		to = next.up
	}
	if head.IsPrompt() || !head.writtenBefore(to) || !inFrontOf(head, to) {
		return head
	}
	var first *node
	for n := end; n != head; n = n.up {
		if n.IsPrompt() {
			first = n
		}
	}
	return first
}

// promptAfter is the first prompt, on the way to a tip, that is later than the end of a branch; nil if there is none.
func promptAfter(end, tip *node) (next *node) {
	for p := tip; p != nil && p.up != nil; p = p.up { // the first record is not a prompt, whatever it looks like
		if p.IsPrompt() && !p.AsksNothing && end.When != 0 && p.When > end.When {
			next = p
		}
	}
	return next
}

// behindCompaction moves a branch behind a compaction: in front of the first prompt that is later than the branch, or else to
// the end. It returns the tip of the result.
func (c *Checker) behindCompaction(d *draft, head, end, tip *node) *node {
	if next := promptAfter(end, tip); next != nil {
		c.hang(head, next.up, d)
		c.hang(next, end, d)
		return tip
	}
	c.hang(head, tip, d)
	return end
}
