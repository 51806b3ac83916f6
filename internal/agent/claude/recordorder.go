package claude

import (
	"github.com/hist-cli/hist/internal/finding"
)

// order notes records that stand in front of their parents.
func (c *Checker) order() {
	for _, n := range c.nodes {
		if n.up != nil && n.new == nil && n.up.new == nil && !n.side && n.up.index > n.index && len(n.moves) == 0 && n.hasMessage() && !opening(n.up) && !addedLate(n) {
			c.add(&draft{about: n, always: true, Finding: finding.Finding{Rule: ruleRecordOrder, Impact: finding.Notes, Message: "the record stands in front of its parent"}})
			return
		}
	}
}

// opening says whether nobody has answered yet where a record stands: the client may write the first prompt, and what it
// adds to that, after the answer's first records (seen in 2.1.215, in a terminal).
func opening(n *node) bool {
	for steps := 0; n != nil && steps < maxOpening; steps++ {
		if n.role == roleAssistant || n.role == roleResult {
			return false
		}
		n = n.up
	}
	return n == nil
}

// addedLate says whether only what the client adds to a prompt stands behind the answer's first record: it may write that
// later, when a session is resumed (seen in 2.1.300, in a terminal).
func addedLate(n *node) bool {
	p := n.up
	for steps := 0; p != nil && p.attachment != "" && steps < maxOpening; steps++ {
		p = p.up
	}
	return p != nil && p != n.up && p.isPrompt() && p.index < n.index
}

// maxOpening is how many records the client adds to a first prompt at most.
const maxOpening = 64
