package mend

import (
	"slices"

	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/session"
)

// A client may write a whole conversation again at the end of the file, under new ids and from a root of its own, and go on
// from there (2.0.29 does so when it resumes a session whose first prompt holds an image). Nothing is lost by that.

// replays says whether a record without a parent begins such a copy: the first answer below it repeats an earlier record's,
// word for word. It marks the records of the copy.
func (c *Checker) replays(n *node) bool {
	if n.Role != content.RoleUser {
		return false
	}
	if c.saidFirst == nil {
		c.saidFirst = map[uint64]*node{}
		for _, m := range c.nodes {
			if m.HasMessage() && !m.Side && c.saidFirst[m.Message] == nil {
				c.saidFirst[m.Message] = m
			}
		}
	}
	again := func(m *node) bool {
		first := c.saidFirst[m.Message] // nil for a record of hist's own
		return first != nil && first != m && first.index < n.index
	}
	for _, m := range c.nodes[n.index+1 : min(len(c.nodes), n.index+maxSiblings)] {
		if m.Side || m.Role != content.RoleAssistant || m.Msg == "" || !rooted(m, n) {
			continue
		}
		if !again(m) {
			return false
		}
		c.below(n, func(m *node) bool {
			if m.HasMessage() && !m.Side && again(m) {
				m.change().again = true
			}
			return true
		})
		return true
	}
	return false
}

// answeredBefore says whether the model has answered anything in front of a record. An answer that was interrupted behind its first
// thoughts is none.
func (c *Checker) answeredBefore(n *node) bool {
	if c.firstAnswer == nil {
		for _, m := range c.nodes {
			if m.Role == content.RoleAssistant && m.Sent() && !m.Filler && !m.Side && c.saysMore(m) {
				c.firstAnswer = m
				break
			}
		}
	}
	return c.firstAnswer != nil && c.firstAnswer.index < n.index
}

// repeatedEnd reports copies of older records behind the end of a conversation. A client leaves them if it is ended while it
// writes the history again, as some do for a compaction. If no last-prompt record names another end, or if a copied one does,
// the client begins at the last copy, and sends nothing of what followed the originals (2.1.330, measured).
func (c *Checker) repeatedEnd() {
	if c.repeated == nil || c.repeated.Impact != finding.Notes || c.opts.Live {
		return
	}
	end, lost := c.tipOf(c.leaf), c.sentNow()
	list := slices.Clone(c.inOrder())
	slices.SortStableFunc(list, func(a, b *node) int { return c.lastPlace(a).Compare(c.lastPlace(b)) }) // of several with one id the client reads the last
	sent := c.viewOf(list).from(c.leaf)
	tip := sent.tip
	if end == nil || tip == nil || tip == end || !slices.ContainsFunc(lost.list, func(n *node) bool { return n.Sent() && !n.Filler && !sent.has(n) }) {
		return
	}
	d := c.repeated
	d.Impact, d.Message = finding.Loses, "old records were written again, byte for byte, after the end of the session: the client begins there and sends nothing of what came after the originals"
	if leaf := c.ids.get(c.leaf); leaf != nil && tip == leaf {
		d.Message = "old records were written again, byte for byte, after the end of the session: the client begins at the record that the last last-prompt names and sends nothing of what follows that"
	}
}

// lastPlace is the place of a record's last copy, or of the record itself.
func (c *Checker) lastPlace(n *node) session.Pos {
	if copies := c.copies[n.Pos()]; len(copies) > 0 {
		return copies[len(copies)-1]
	}
	return n.Pos()
}
