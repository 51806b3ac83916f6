package claude

import (
	"slices"

	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/agent/claude/format"
)

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
	for n != nil && n.Role == content.RoleLink {
		n = n.up
	}
	return n == nil || n.AsksNothing || n.Role == content.RoleAssistant && !n.Calls()
}
