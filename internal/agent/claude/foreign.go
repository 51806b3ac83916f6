package claude

import (
	"sort"

	"github.com/hist-cli/hist/internal/agent/claude/content"
)

// foreign says whether a prompt was written by another client than the rest of the session: it is the only prompt of the file
// that no bookkeeping announces. From 2.1.2 on, clients write a queue-operation in front of a prompt from a pipe, and a
// file-history-snapshot beside one from a terminal, even after a rewind (2.1.2, 2.1.100 and 2.1.215, measured).
func (c *Checker) foreign(n *node) bool {
	if !c.foreignKnown {
		c.foreignKnown, c.foreignPrompt = true, c.findForeign()
	}
	return n == c.foreignPrompt
}

// findForeign is the only prompt of the file that no bookkeeping announces; nil if there is none, or several.
func (c *Checker) findForeign() (odd *node) {
	var before *node
	noted := false
	for _, n := range c.nodes {
		if n.Role == content.RoleAssistant && n.Sent() && !n.Filler && !n.Side {
			before = n // a prompt that was announced before an answer belongs to that answer
		}
		if n.Side || !n.IsPrompt() {
			continue
		}
		next := sort.Search(len(c.queued), func(i int) bool { return before == nil || before.Pos().Less(c.queued[i].Pos) })
		switch {
		case n.AsksNothing:
		case c.snapshots[n.UUID], next < len(c.queued) && c.queued[next].Pos.Less(n.Pos()):
			noted = true
		case odd != nil:
			return nil
		default:
			odd = n
		}
		before = n
	}
	if !noted {
		return nil
	}
	return odd
}
