package mend

import (
	"time"

	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/jsonl"
)

// wrongLeaf reports that the newest client begins at a record behind which more was said.
func (c *Checker) wrongLeaf() {
	tip := c.tipOf(c.leaf)
	if tip == nil || c.pointed {
		return
	}
	full := c.deepest(tip)
	if full == tip && tip.Role == content.RoleResult { // no last-prompt names the end, and the last line is an output beside the path
		full = c.latestBelow(answerHead(tip))
	}
	inFront := full
	full = c.behindMarks(full)
	if full == tip || full == nil {
		return
	}
	sent, all := c.reach(tip), c.reach(full)
	lost := false
	for _, n := range all.list {
		lost = lost || n.Sent() && !n.Filler && !sent.has(n)
	}
	if !lost {
		return
	}
	d := c.find(full, faults.WrongLeaf, "the client begins before this record: what follows is not sent").anyway()
	switch {
	case full != inFront:
		d.Message = "the client begins before a compaction: it sends neither the summary nor what follows it"
	case !under(full, tip):
		d.Message = "the client begins at the last record of the file, the output of one of several parallel calls, and not at this one: what was said after the other outputs is not sent"
	}
	c.pointAt(d, full, false)
}

// behindMarks is the end of the conversation that went on from a record over any compactions.
func (c *Checker) behindMarks(n *node) *node {
	if !c.some.marks {
		return n
	}
	marks := map[string]*node{} // by the id of the last record before the compaction
	for _, m := range c.all() {
		if m.Role == content.RoleBoundary && !m.Side && m.dropped == nil && m.up == nil && m.Ref2 != "" {
			marks[m.Ref2] = m
		}
	}
	for n != nil && marks[n.UUID] != nil {
		mark := marks[n.UUID]
		delete(marks, n.UUID)
		if _, answered := c.branchEnd(mark); !answered {
			break
		}
		n = c.deepest(mark)
	}
	return n
}

// pointAt adds a last-prompt record that names n as the end of the conversation. chosen says that a user asked for this.
func (c *Checker) pointAt(d *draft, n *node, chosen bool) {
	c.leaf, c.pointed = n.UUID, true
	prompt := ""
	for i := len(c.echoes) - 1; i >= 0 && prompt == ""; i-- {
		if c.echoes[i].Last {
			prompt = c.echoes[i].Words()
		}
	}
	line := []byte(`{"type":"last-prompt","lastPrompt":`)
	line = jsonl.AppendQuote(line, prompt)
	line = append(jsonl.AppendQuote(append(line, `,"leafUuid":`...), n.UUID), `,"sessionId":`...)
	line = jsonl.AppendQuote(line, c.beside.Session.Words)
	if chosen {
		line = append(jsonl.AppendQuote(append(line, `,"hist":`...), chosenMark), '}')
	} else {
		line = append(line, '}')
	}
	d.Edits = append(d.Edits, finding.Edit{At: c.last.Pos, Op: finding.After, New: finding.Content{Literal: line}})
}

// maxJumps is how many times that are ahead of all that follow are put right at once; a repair looks for more in its next pass.
const maxJumps = 256

// wrongTime reports that clients up to 2.1.2 begin at a record in the middle: they take the message with the latest time, of
// equals the first, and the conversation's last message has no time or an earlier one.
func (c *Checker) wrongTime() {
	tip := c.tipOf(c.leaf)
	for tip != nil && (!tip.Sent() || tip.dropped != nil) {
		tip = tip.up
	}
	if tip == nil || tip.new != nil || !c.oldTarget() {
		return
	}
	latest := c.latest(tip)
	for range maxJumps {
		if latest == nil || !c.leadsOver(tip, latest) && c.laterBeside(tip, latest) || !c.aheadOfTime(tip, latest) {
			break
		}
		was := latest
		if latest = c.latest(tip); latest == was { // its time is not to be changed
			return
		}
	}
	if latest == nil || !c.leadsOver(tip, latest) || !saysMore(tip, latest) {
		return
	}
	d := c.find(tip, faults.WrongLeaf, "versions up to 2.1.2 begin at the message with the latest time, which is not this one, the last: they do not send what comes after it").anyway()
	d.Impact, d.Fix = c.worst(faults.OldAndNewer(finding.Loses, finding.Notes)), finding.StandIn
	if latest.When != 0 {
		d.Edits = append(d.Edits, tip.timed(latest.When+1))
		return
	}
	for _, n := range c.nodes { // for these clients, a message without a time is neither earlier nor later than others, so all need one
		if n.Sent() && n.dropped == nil {
			d.Edits = append(d.Edits, n.timed(noTime+int64(n.index)))
		}
	}
}

// latest is the message at which clients up to 2.1.2 begin; nil if they do not stop short of the tip there.
func (c *Checker) latest(tip *node) *node {
	latest := tip
	for _, n := range c.nodes {
		if n.Sent() && !n.Side && n.dropped == nil && (n.When > latest.When || n.When == latest.When && n.index < latest.index) {
			latest = n
		}
	}
	if latest == tip || latest.When == tip.When && latest.When != 0 && tip.Msg == latest.Msg {
		return nil
	}
	return latest
}

// leadsOver says whether the way up from the tip leads to a record, or over compactions to what was compacted.
func (c *Checker) leadsOver(tip, n *node) bool {
	for marks := 0; tip != nil && marks <= maxMarks; marks++ {
		if under(tip, n) {
			return true
		}
		mark := markOf(tip)
		if mark == nil || mark.up != nil {
			return false
		}
		tip = c.beforeCompaction(mark)
	}
	return false
}

// aheadOfTime reports a message whose time is later than the times around it, which are in order, and than all behind it:
// clients up to 2.1.2 begin there. It says whether that is so.
func (c *Checker) aheadOfTime(tip, latest *node) bool {
	front, behind := c.timedNear(latest, -1), c.timedNear(latest, 1)
	if latest.TimeSpan.To() == 0 || behind == nil || behind == tip || latest.index > tip.index || front != nil && front.When > behind.When || behind.When >= latest.When {
		return false
	}
	if front == nil && !latest.IsPrompt() { // it was moved there
		return false
	}
	at := latest
	for at != nil && !under(tip, at) {
		at = at.up
	}
	if at == nil || !saysMore(tip, at) {
		return false
	}
	d := c.find(latest, faults.WrongLeaf, "the record's time is later than those of all that follow: versions up to 2.1.2 begin at the message with the latest time, and do not send what comes after it").anyway()
	d.also, d.Impact, d.Fix = []*node{tip}, c.worst(faults.OldAndNewer(finding.Loses, finding.Notes)), finding.StandIn
	d.Edits = append(d.Edits, latest.timed(behind.When))
	if c.chosen(d) {
		latest.When = behind.When
	}
	return true
}

// timedNear is the nearest message that has a time, before (step -1) or after (step 1) a record; nil if there is none near.
func (c *Checker) timedNear(n *node, step int) *node {
	for i := n.index + step; i >= 0 && i < len(c.nodes) && i != n.index+step*maxSiblings; i += step {
		if m := c.nodes[i]; !m.Side && m.When != 0 && m.HasMessage() {
			return m
		}
	}
	return nil
}

// laterBeside reports that clients up to 2.1.2 begin on another branch: a second client wrote an unanswered prompt there, in
// front of the conversation's end in the file but with a later time. It says whether that is so.
func (c *Checker) laterBeside(tip, latest *node) bool {
	if latest.index > tip.index || latest.When <= tip.When || tip.When == 0 || under(latest, tip) {
		return false
	}
	t := c.trunkOf(tip)
	t.walk()
	head := latest
	for head.up != nil && !t.holds(head.up) {
		head = head.up
	}
	if head.up == nil || !head.IsPrompt() || !saysMore(tip, head.up) {
		return false
	}
	d := c.find(tip, faults.WrongLeaf, "versions up to 2.1.2 begin at the message with the latest time, a prompt of another client on a branch of its own: they do not send what ends with this record").anyway()
	d.Impact = c.worst(faults.OldAndNewer(finding.Loses, finding.Notes))
	c.hang(head, tip, d)
	return true
}

// saysMore says whether anything was said between a record and a tip below it. Commands of the client's own do not count: in a
// terminal their times go back a few milliseconds.
func saysMore(tip, n *node) bool {
	for ; tip != nil && tip != n; tip = tip.up {
		if tip.Sent() && !tip.Meta && !tip.AsksNothing && !tip.Filler {
			return true
		}
	}
	return false
}

// noTime is the time from which on records without any time are dated: 2025-01-01, in milliseconds since 1970.
const noTime = 1_735_689_600_000

// timed is the edit that gives a record a time.
func (n *node) timed(when int64) finding.Edit {
	words := time.UnixMilli(when).UTC().Format(format.TimeForm)
	return finding.Edit{At: n.Pos(), Op: finding.Splice, Cuts: []finding.Cut{member(n.TimeSpan.In(), int(n.Start), "timestamp", words)}}
}
