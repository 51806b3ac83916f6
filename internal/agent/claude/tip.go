package claude

import (
	"slices"
)

// tipOf is the record that the newest client begins at, given what the last last-prompt record names. A record that it can't
// take there counts otherwise than none: it then begins at the last record of the file, a message or not (2.1.330, measured).
func (c *Checker) tipOf(leaf string) *node {
	start := c.ids.get(leaf)
	if c.takes(start) {
		return goesOn(start, answerHead(start, hung), c.lastLink())
	}
	if last := c.lastLink(); leaf != "" && c.takes(last) {
		return last
	}
	start = lastOf(c.nodes, func(n *node) bool { return !n.side && n.dropped == nil && !c.unread(n) })
	return goesOn(start, start, c.lastLink())
}

// takes says whether the newest client begins at a record if something names it as the end.
func (c *Checker) takes(n *node) bool { return n != nil && n.dropped == nil && saysAnything(n, hung) }

// goesOn is where the newest client begins, given where the session is said to end and the head of that answer: at the last
// record of the file if that hangs on the head, else where it is said, whatever hangs there (measured with 2.1.330).
func goesOn(start, head, last *node) *node {
	if head != nil && last != nil && under(last, head) {
		return last
	}
	return start
}

// lastLink is the last record of the file that the newest client may begin at; copies of older ones do not count.
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

// saysAnything says whether the way up from a record leads to a message: the newest client takes no leaf that nothing is
// said above, as what it adds to an answer that is lost (measured).
func saysAnything(n *node, up func(*node) *node) bool {
	seen := map[*node]bool{}
	for n != nil && !n.hasMessage() && n.role != roleBoundary && !seen[n] {
		seen[n] = true
		n = up(n)
	}
	return n != nil && !seen[n]
}

// lastOf is the last record with a message of those that count, else the last of any kind, where the newest client begins
// if the file does not say where the conversation ends.
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

// answerHead is the first record of the answer whose call or output a record is, else the record itself: of parallel calls
// the client goes on behind another one than the leaf that it noted while they ran (measured with 2.1.330).
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

// newestBelow is the last record in the file that hangs on one and stands behind it, itself if there is none.
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

// besideCall says whether a record is an output off the path that the client collects with its call.
func (c *Checker) besideCall(m *node) bool {
	return m.role == roleResult && m.up != nil && m.many == 0 && m.up.many > 1
}

// deepest follows what hangs on a record to its end, whatever the order of the file.
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
