package mend

import (
	"slices"

	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/agent/claude/format"
)

// lastLink is the last record of the file that the newest client may begin at.
func (c *Checker) lastLink() *node {
	for _, n := range slices.Backward(c.nodes) {
		if n.Typ != "progress" && c.mayBeTip(n) {
			return n
		}
	}
	return nil
}

// saysAnything says whether there is a message at or above a record. The newest client takes no end that has none, such as a
// record that it added to a lost answer (measured).
func saysAnything(n *node) bool {
	for n != nil && !n.HasMessage() && n.Role != content.RoleBoundary {
		n = n.up
	}
	return n != nil
}

// answerHead is the first record of the answer to which a call or an output belongs; for any other record it is the record
// itself. With parallel calls, the client may go on from another one than the end that it recorded while they ran (measured
// with 2.1.330).
func answerHead(n *node) *node {
	if n == nil || n.Role != content.RoleResult && (n.Role != content.RoleAssistant || !n.Calls()) {
		return n
	}
	head := n
	msg := ""
	for p, steps := n, 0; p != nil && steps < maxSiblings; p, steps = p.up, steps+1 {
		switch {
		case p.Role == content.RoleResult:
		case p.Role == content.RoleAssistant && p.Msg != "" && (msg == "" || p.Msg == msg):
			head, msg = p, p.Msg
		default:
			return head
		}
	}
	return head
}

// latestBelow is the record with the latest time of all that are below another one, wherever they stand, of equals the last in the file;
// that one itself if there is none.
func (c *Checker) latestBelow(n *node) *node {
	best := n
	c.below(n, func(m *node) bool {
		if m != n && c.mayBeTip(m) && (best == n || m.When > best.When || m.When == best.When && m.index > best.index) {
			best = m
		}
		return true
	})
	return best
}

// mayBeTip says whether the client may begin at a record, or go on from it.
func (c *Checker) mayBeTip(n *node) bool {
	return !n.Side && n.dropped == nil && !c.unread(n) && !c.besideCall(n)
}

// besideCall says whether a record is an output beside the path, which the client sends together with its call: more hangs on that
// behind it.
func (c *Checker) besideCall(m *node) bool {
	if m.Role != content.RoleResult || m.up == nil || m.many != 0 || m.up.many < 2 {
		return false
	}
	k := m.up.last
	for steps := 0; k != nil && (k.index <= m.index || k.Typ == "progress") && steps < maxSiblings; steps++ {
		k = k.former
	}
	return k != nil
}

// deepest follows the newest child of each record down to a leaf, whatever the order of the file.
func (c *Checker) deepest(n *node) *node {
	for steps := 0; steps <= len(c.nodes); steps++ {
		var next *node
		for m := n.first; m != nil; m = m.latter {
			if c.mayBeTip(m) && (next == nil || m.When > next.When) {
				next = m
			}
		}
		if next == nil {
			return n
		}
		n = next
	}
	return n
}

// unknownLinks looks for parents that no client reads. Their children are hung on the nearest record above that clients do
// read.
func (c *Checker) unknownLinks() {
	above := map[*node]*node{} // for a record that is not read, the nearest one above it that is: many may hang on each other
	for _, n := range c.nodes {
		if n.Side || n.up == nil || !c.unread(n.up) {
			continue
		}
		bad := n.up
		var skipped []*node
		p := bad
		for p != nil && c.unread(p) {
			skipped = append(skipped, p)
			if over, ok := above[p]; ok {
				p = over
				continue
			}
			p = p.up
		}
		for _, m := range skipped {
			above[m] = p
		}
		d := c.find(bad, faults.UnknownLink, "the chain leads through a record of the type "+quoteType(bad.Typ)+", which the client does not read: it forgets everything above")
		c.hang(n, p, d)
	}
}

func quoteType(t string) string { return `"` + content.Clip(t) + `"` }

// firstProgress is the first version known to write progress records. Versions up to 2.1.2 neither write them nor read on
// above one.
const firstProgress = "2.1.3"

// unread says whether a record is a link that clients do not follow. All but old versions follow progress records, which
// healthy sessions have, too; so these count only if the session is for such an old version or was written by one.
func (c *Checker) unread(n *node) bool {
	if n.Typ == "progress" && (format.Before(c.opts.For, "2.1.100") || c.opts.For == "" && format.Before(n.Version, firstProgress)) {
		return true
	}
	return n.Role == content.RoleOther && n.Typ != "progress" && !format.NewerThanKnown(n.Version)
}
