package claude

import (
	"slices"
)

// tipOf is the record at which the newest client begins, given the end that the last last-prompt record names ("" for none). If
// it names a record that the client can't begin at, the client begins at the last record of the file, message or not (2.1.330,
// measured).
func (c *Checker) tipOf(leaf string) *node {
	start := c.ids.get(leaf)
	if c.takes(start) {
		return goesOn(start, answerHead(start, hung), c.lastLink())
	}
	last := c.lastLink()
	if !c.takes(last) {
		last = lastOf(c.nodes, func(n *node) bool { return !n.side && n.dropped == nil && !c.unread(n) })
	}
	if leaf == "" && last != nil && last.first != nil && last.role != roleResult && !last.calls() { // nothing is said about the end: what was said last below the last record of the file is it (2.1.332, measured)
		return c.latestBelow(last)
	}
	return last
}

// takes says whether the newest client begins at a record that is named as the end.
func (c *Checker) takes(n *node) bool { return n != nil && n.dropped == nil && saysAnything(n, hung) }

// goesOn is where the newest client begins, given the recorded end of the session and the first record of that answer: at the
// last record of the file if it is below that first record, or else at the recorded end, whatever hangs on it (measured with
// 2.1.330).
func goesOn(start, head, last *node) *node {
	if head != nil && last != nil && under(last, head) {
		return last
	}
	return start
}

// lastLink is the last record of the file that the newest client may begin at, not counting copies of older records.
func (c *Checker) lastLink() *node {
	for _, n := range slices.Backward(c.nodes) {
		if c.mayEnd(n) {
			return n
		}
	}
	return nil
}

func (c *Checker) mayEnd(n *node) bool { return c.mayEndBeside(n) && !c.besideCall(n) }

// mayEndBeside is mayEnd whether or not the record is an output off the path.
func (c *Checker) mayEndBeside(n *node) bool {
	return !n.side && n.dropped == nil && n.typ != "progress" && !c.unread(n)
}

// saysAnything says whether there is a message at or above a record. The newest client takes no end that has none, such as a
// record that it added to a lost answer (measured).
func saysAnything(n *node, up func(*node) *node) bool {
	seen := map[*node]bool{}
	for n != nil && !n.hasMessage() && n.role != roleBoundary && !seen[n] {
		seen[n] = true
		n = up(n)
	}
	return n != nil && !seen[n]
}

// lastOf is where the newest client begins if the file does not say where the conversation ends: at the last message of those
// that count, or else at the last record of any kind.
func lastOf(nodes []*node, counts func(*node) bool) (last *node) {
	for _, n := range slices.Backward(nodes) {
		if counts(n) && (n.hasMessage() || n.role == roleBoundary) {
			return n
		}
		if last == nil && counts(n) {
			last = n
		}
	}
	return last
}

// answerHead is the first record of the answer to which a call or an output belongs; for any other record it is the record
// itself. With parallel calls, the client may go on from another one than the end that it recorded while they ran (measured
// with 2.1.330).
func answerHead(n *node, up func(*node) *node) *node {
	if n == nil || n.role != roleResult && (n.role != roleAssistant || !n.calls()) {
		return n
	}
	head := n
	msg := ""
	for p, steps := n, 0; p != nil && steps < maxSiblings; p, steps = up(p), steps+1 {
		switch {
		case p.role == roleResult:
		case p.role == roleAssistant && p.msg != "" && (msg == "" || p.msg == msg):
			head, msg = p, p.msg
		default:
			return head
		}
	}
	return head
}

// newestBelow is the last record in the file that is below another one and stands behind it, or that one itself if there is
// none.
func (c *Checker) newestBelow(n *node) *node {
	if n == nil {
		return nil
	}
	best := n
	c.below(n, func(m *node) bool {
		if m.index > best.index && !m.side && m.dropped == nil && !c.unread(m) && !c.besideCall(m) {
			best = m
		}
		return true
	})
	return best
}

// latestBelow is the record with the latest time of all that are below another one, wherever they stand, of equals the last in the file;
// that one itself if there is none.
func (c *Checker) latestBelow(n *node) *node {
	best := n
	c.below(n, func(m *node) bool {
		if m != n && !m.side && m.dropped == nil && !c.unread(m) && !c.besideCall(m) &&
			(best == n || m.when > best.when || m.when == best.when && m.index > best.index) {
			best = m
		}
		return true
	})
	return best
}

// besideCall says whether a record is an output beside the path, which the client sends together with its call: more hangs on that
// behind it.
func (c *Checker) besideCall(m *node) bool {
	if m.role != roleResult || m.up == nil || m.many != 0 || m.up.many < 2 {
		return false
	}
	k := m.up.last
	for steps := 0; k != nil && (k.index <= m.index || k.typ == "progress") && steps < maxSiblings; steps++ {
		k = k.former
	}
	return k != nil
}

// deepest follows the newest child of each record down to a leaf, whatever the order of the file.
func (c *Checker) deepest(n *node) *node {
	for steps := 0; steps <= len(c.nodes); steps++ {
		var next *node
		for m := n.first; m != nil; m = m.latter {
			if m.side || m.dropped != nil || c.unread(m) || c.besideCall(m) {
				continue
			}
			if next == nil || m.when > next.when {
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
