package mend

import (
	"slices"

	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/agent/claude/evidence"
	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/session"
)

// parentless reports a record in the middle of the session that names no parent.
func (c *Checker) parentless(n *node) {
	p := c.before(n)
	for p != nil && c.unread(p) { // a record that no client reads can't be the parent
		p = p.up
	}
	if !n.Summary && c.saysNothingAbove(p) {
		return // nothing in front of it belongs to the conversation, or all of that hangs on this record: it is the first one after all
	}
	summary := c.summaryFrom(n)
	markLost := summary != nil && markBefore(p) == nil
	if markLost && !keepsLast(summary.Version) {
		return // clients send the same without the mark
	}
	d := c.find(n, faults.NullParent, "a record in the middle of the session has no parent: the client forgets everything above it")
	if markLost { // the mark's id is not known
		c.addBoundary(n, format.NewID("boundary", n.UUID), d)
		return
	}
	c.hang(n, p, d)
}

// saysNothingAbove says whether nothing of the conversation stands at or above a record, nil included.
func (c *Checker) saysNothingAbove(p *node) bool {
	return !saysAnything(p) && !c.followsMessage(p) && !followsLost(p)
}

// followsMessage says whether a record that says nothing comes behind a message, whatever its parent is.
func (c *Checker) followsMessage(link *node) bool { return saysAnything(looseAbove(link)) }

// followsLost says whether a record that says nothing hangs on one that is missing: the client added it to a message.
func followsLost(link *node) bool {
	top := looseAbove(link)
	return link != nil && top == nil && link.Attachment != "" && link.up == nil && link.Parent != ""
}

// looseAbove is the record above one that says nothing, or, where that hangs on nothing, in front of it: records that say nothing get
// their parents last.
func looseAbove(n *node) *node {
	for steps := 0; n != nil && n.Role == content.RoleLink && steps < maxSiblings; steps++ {
		if n.up != nil {
			n = n.up
		} else {
			n = n.front
		}
	}
	return n
}

// markBefore is markAbove over links whose parents are missing.
func markBefore(n *node) *node { return markAbove(looseAbove(n)) }

// turnEnd is the last record of the turn that goes on below a record.
func turnEnd(n *node) *node {
	for {
		var next *node
		for k := n.first; k != nil; k = k.latter {
			if !k.Side && k.dropped == nil && (next == nil || k.When > next.When) {
				next = k
			}
		}
		if next == nil || next.IsPrompt() {
			return n
		}
		n = next
	}
}

// cleared says whether the user made the client forget the conversation just in front of a prompt. 1.0.17 then goes on in the
// same file.
func (c *Checker) cleared(n *node) bool {
	for i := n.index - 1; i >= 0 && i > n.index-maxSiblings; i-- {
		switch m := c.nodes[i]; {
		case m.Clears:
			return true
		case !m.Side && m.HasMessage() && !m.AsksNothing:
			return false
		}
	}
	return false
}

// lostParent reports records that name a parent which is not in the file. The parent is restored if it is known what it was;
// otherwise they are hung on what comes before them.
func (c *Checker) lostParent(id string, children []*node) {
	if calls, others := c.apart(children); len(calls) > 0 && len(others) > 0 {
		c.broken(calls)
		children = others
	}
	before := c.before(children[0])
	if c.opts.Forked && c.saysNothingAbove(before) || before == nil && (c.inOtherPart(id) || c.warmedUp() || c.endsAnother(children[0])) || c.inOlderFile(children) {
		return
	}
	found := len(c.found)
	if !c.headBeside(id, children[0], before) && !c.lostBefore(id, children) && !c.lostBeside(id, children) && !c.lostText(id, children[0]) {
		c.broken(children)
		return
	}
	for _, d := range c.found[found:] {
		d.also = children
	}
	p := c.ids.get(id)
	for _, m := range children {
		switch {
		case m.up != nil:
		case rooted(p, m): // the new parent hangs on this record
			c.broken([]*node{m})
		default:
			m.up, m.above = p, p
			m.join()
		}
	}
}

// LostText restores, by a stand-in, the missing parent of what follows a turn, if no more than thinking stands in front: 2.1.23 to 2.1.29
// did not always write the text behind it. It says whether that is so.
func (c *Checker) lostText(id string, n *node) bool {
	p := c.before(n)
	if p == nil || n.HasMessage() && !n.IsPrompt() || p.Role != content.RoleAssistant || !p.Sent() || c.saysMore(p) || p.first != nil ||
		slices.ContainsFunc(c.dead, func(at session.Pos) bool { return p.Pos().Less(at) && at.Less(n.Pos()) }) {
		return false
	}
	d := c.find(n, faults.BrokenParent, "the record's parent is not in the file, nor is the text that should end the answer in front of it: that is lost")
	d.Fix, d.Lost = finding.StandIn, 1
	m := format.Made{UUID: id, Parent: p.UUID, When: p.When + 1, Typ: "assistant", Message: evidence.AnswerOf([]format.Object{{"type": "text", "text": content.LostText}}, "end_turn")}
	m.Message["id"] = p.Msg
	c.insert(d, m, p, finding.After).Msg = p.Msg
	return true
}

// apart splits records that name the same missing parent: outputs of calls that are in the file, which belong behind their
// calls whatever was lost, and the others.
func (c *Checker) apart(children []*node) (outputs, others []*node) {
	for _, n := range children {
		if call := c.callOf(n); call != nil && n.Source == call.UUID && n.Source != n.Parent {
			outputs = append(outputs, n)
		} else {
			others = append(others, n)
		}
	}
	return outputs, others
}

// lostBefore restores the lost parent of these records; false if it is not known what it was.
func (c *Checker) lostBefore(id string, children []*node) bool {
	n := children[0]
	p := c.before(n)
	switch {
	case c.summaryFrom(n) != nil && markBefore(p) != nil: // the client wrote another record between the two
		return false
	case c.summaryFrom(n) != nil:
		c.addBoundary(n, id, nil)
		return true
	case c.lostCallBefore(id, children):
		return true
	case n.Role == content.RoleResult && n.Source == "" && c.lostResultBefore(id, children, p): // versions up to 2.0 chained outputs
		return true
	case n.Role == content.RoleResult && c.callOf(n) != nil:
		return false
	}
	return c.lostResultBefore(id, children, p) || c.lostSummaryBefore(id, n, p) || c.lostPromptBefore(id, children, p)
}

// inOtherPart says whether a sub-agent has written the record with this id into the folder of another session.
func (c *Checker) inOtherPart(id string) bool {
	return c.opts.SubAgent && c.opts.Beside != nil && c.opts.Beside.Part(id)
}

// warmedUp says whether the file holds only what a sub-agent said when a client from 2.0 to 2.1.2 started. These clients prompt
// some of their sub-agents before there is any prompt of the user's, and may leave the prompt in the folder of a session that
// never began (measured with 2.1.2; 2.1.20 no longer does this).
func (c *Checker) warmedUp() bool {
	return c.opts.SubAgent && format.Before(c.written, "2.1.20") && !format.Before(c.written, "2.0.0") && !slices.ContainsFunc(c.nodes, func(n *node) bool {
		return n.Role != content.RoleAssistant || n.Calls()
	})
}

// tellsUnwritten is the only version that was seen not to write what it tells a sub-agent behind its prompt: the answer's parent is in no file.
const tellsUnwritten = "2.1.92"

// broken reports records whose parent is missing, and hangs each on what comes before it.
func (c *Checker) broken(children []*node) {
	for _, n := range children {
		to := c.before(n)
		if n.AtStart && c.saysNothingAbove(to) {
			continue // a session that is resumed in a new file begins so
		}
		if c.opts.SubAgent && n.Version == tellsUnwritten && to != nil && to.IsPrompt() && n.Role == content.RoleAssistant {
			continue
		}
		d := c.find(n, faults.BrokenParent, "the record's parent is not in the file")
		d.Impact, d.Gap = c.impactOf(n, to), true
		switch {
		case to == nil:
			d.Impact, d.Fix = finding.Notes, finding.NoFix
			if !c.begunElsewhere(n, d) && c.headLost(n) {
				c.tellLostHead(n, d)
			}
			continue
		case d.Impact == finding.Notes:
			d.Message += "; the client takes the record before it in time"
			if last := overLinks(to); n.IsPrompt() && !n.AsksNothing && last != nil && last.Role == content.RoleResult {
				d.Impact = finding.Loses // no prompt follows the output of a call before the turn has ended
				d.Message = "the record's parent is not in the file, nor is what ended the turn in front of it; the client takes the record before it in time"
			}
		case c.behindEnd(n):
			d.Message += ": the client sends one side of the gap, and forgets the other"
		default:
			d.Message += ": the client forgets everything above it"
		}
		c.hang(n, to, d)
	}
}

// begunElsewhere says of a record with nothing in front of it where its parent is. If another session of the folder has both, this file is
// the end of that one: a resume that failed left it, and its client sends no more than stands here. It returns false if it is in none.
func (c *Checker) begunElsewhere(n *node, d *draft) bool {
	parent, _, source := c.elsewhere(n.Parent)
	if parent == nil || parent.Side || c.opts.Beside == nil {
		d.Message += "; nothing comes before it"
		return false
	}
	if c.opts.Beside.Lacks(n.UUID) {
		d.Message += " but in " + source
		return true
	}
	d.Impact, d.always, d.Message = finding.Loses, true, c.endOf(source)
	return true
}

// endOf says of a file that begins in the middle of a conversation where the whole stands, and whether that is all that this one holds.
func (c *Checker) endOf(source string) string {
	resume := ""
	if !c.opts.Beside.Lacks(c.nodes[len(c.nodes)-1].UUID) {
		resume = " resume that one;"
	}
	return "the file begins in the middle of a conversation that stands elsewhere (" + source + "):" + resume + " of this one the client sends only what is here"
}

// headLost says whether a record with nothing in front of it shows that the file's beginning is lost. No client that goes on in the same file
// begins one with a prompt that hangs on something else: of 1,400 published files none does, while 55 that were kept from some checkpoint on begin with what the
// client adds behind an answer. That is no sign unless the client has counted more records than there are.
func (c *Checker) headLost(n *node) bool {
	prompt := n.IsPrompt() && !n.Meta && !n.AsksNothing && !n.Filler && !format.Before(n.Version, goesOnInFile)
	if !prompt && !c.countedMore() || n.Side || n.Summary || n.Parent == "" || c.opts.SubAgent {
		return false
	}
	return !slices.ContainsFunc(c.nodes[:n.index], func(m *node) bool { return !m.Side && m.Role != content.RoleOther })
}

// countedMore says whether the client has counted more records of the conversation than the file holds with what was put back. It counts
// those from the last compaction on, of which a rewind has left some out: so a lower count says nothing. (Of 72 published and recorded
// sessions with such counts, it holds of those three of which a part is lost.)
func (c *Checker) countedMore() bool {
	held := int64(len(c.nodes) + len(c.added))
	return slices.ContainsFunc(c.nodes, func(n *node) bool { return !n.Side && n.Counted > held })
}

// tellLostHead puts a prompt in front of the record that tells the model that the beginning is lost.
func (c *Checker) tellLostHead(n *node, d *draft) {
	d.Impact, d.Fix, d.always = finding.Loses, finding.StandIn, true
	d.Message = "the file begins in the middle of the conversation: what was said before is lost, and the client sends only what is here"
	m := format.Made{UUID: n.Parent, When: n.When, Typ: "user", Message: format.Object{"role": "user", "content": content.LostHead}}
	if m.When != 0 {
		m.When--
	}
	c.insert(d, m, n, finding.Before)
}

// A client from 1.0.72 to 2.0.1 that resumes a session in a terminal goes on in a new file: in front stand the titles of the older
// sessions, each with the record at which it ends, and the first prompt hangs on one of these. Who then goes back to a prompt of the
// older file makes the next one hang on a record there, too. Such a client never reads the two together again (1.0.128, 2.0.1 and 2.0.29,
// measured).

// goesOnInFile is the first version that goes on in the same file (2.0.29, measured).
const goesOnInFile = "2.0.29"

// title keeps the end of an older session that stands in front of the conversation.
func (c *Checker) title(leaf string) {
	if len(c.nodes) == 0 && leaf != "" && len(c.titled) < maxSiblings {
		c.titled = append(c.titled, leaf)
	}
}

// inOlderFile says whether the missing parent of these records is in the older file that the session was resumed from.
func (c *Checker) inOlderFile(children []*node) bool {
	if len(c.titled) == 0 || len(c.dead) > 0 {
		return false
	}
	first := c.nodes[c.firstIndex()]
	if !slices.Contains(c.titled, first.Parent) {
		return false
	}
	return !slices.ContainsFunc(children, func(n *node) bool {
		return n.Role != content.RoleUser || n.Summary || !format.Before(n.Version, goesOnInFile) || n != first && !turnIsOver(c.before(n))
	})
}

// turnIsOver says whether no answer of the model's and no output is missing behind a record.
func turnIsOver(n *node) bool {
	n = overLinks(n)
	return n == nil || n.AsksNothing || n.Role == content.RoleAssistant && !n.Calls()
}
