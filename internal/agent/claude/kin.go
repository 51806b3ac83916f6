package claude

import (
	"slices"

	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/finding"
)

// forkedCalls puts back calls of parallel ones that a fork has left behind: the Agent SDK copies the way from the end up, and a call
// that nothing but its output hangs on is not on it. The session that was forked has the rest of the answer.
func (c *Checker) forkedCalls() {
	first := slices.IndexFunc(c.nodes, func(n *node) bool { return !n.Side && n.HasMessage() })
	if c.opts.Beside == nil || c.opts.SubAgent || first < 0 || c.nodes[first].Parent != "" || c.called.size() == 0 {
		return
	}
	var last map[string]*node // the last record of each answer that calls
	lines, source := c.opts.Beside.Kin(c.nodes[first].UUID, func(answer, call string) bool {
		if last == nil {
			last = map[string]*node{}
			for _, n := range c.nodes {
				if !n.Side && n.Calls() && n.dropped == nil {
					last[n.Msg] = n
				}
			}
		}
		left, _ := c.pieces.Call(call)
		return last[answer] != nil && answer != "" && c.calls()[call] == nil && len(c.results()[call]) == 0 && left.ID == ""
	})
	for _, line := range lines {
		n := nodeOf(line)
		beside := last[n.Msg]
		if output, _ := c.opts.Beside.Answer(n.Blocks[0].ID, n.UUID); output == nil || n.Side || n.UUID == "" || c.ids.get(n.UUID) != nil || c.ids.get(n.Parent) == nil {
			continue
		}
		d := &draft{about: beside, Finding: finding.Finding{
			Rule: faults.LostCall, Impact: finding.Loses, Fix: finding.Recovered,
			Message: "a call that was made together with this one, and its output, are only in another file of the conversation: a fork has left them behind",
		}}
		if c.add(d); c.chosen(d) {
			c.putBack(d, n, line, source, nil, beside, finding.After)
			last[n.Msg] = n
		}
	}
}
