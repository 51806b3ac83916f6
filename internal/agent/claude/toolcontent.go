package claude

import (
	"slices"
	"strings"

	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/agent/claude/faults"
)

// madeUp says whether the model itself gave a call the name that a fault is about: the client has told it that there is no such tool, and
// the API has gone on behind that (seen in 2.1.49).
func (c *Checker) madeUp(n *node, f *content.Fault) bool {
	if f.Rule != faults.BadToolName {
		return false
	}
	for i := range n.Blocks {
		b := &n.Blocks[i]
		if b.Kind != content.BlockCall || b.Span.From() != f.At || b.Name == "" {
			continue
		}
		return slices.ContainsFunc(c.results()[b.ID], func(m *node) bool {
			return m.NoSuch != "" && strings.HasPrefix(m.NoSuch, b.Name) && c.modelSpoke(m.index+1)
		})
	}
	return false
}

// modelSpoke says whether a model has answered soon behind a place among the records.
func (c *Checker) modelSpoke(from int) bool {
	return slices.ContainsFunc(c.nodes[min(from, len(c.nodes)):min(len(c.nodes), from+maxSiblings)], func(m *node) bool {
		return m.Role == content.RoleAssistant && !m.Side && !m.Synthetic && !m.Filler
	})
}
