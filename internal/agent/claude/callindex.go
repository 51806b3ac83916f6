package claude

import (
	"slices"

	"github.com/hist-cli/hist/internal/agent/claude/content"
)

// anyCall says whether a call that a record answers is in the file.
func (c *Checker) anyCall(m *node) bool {
	return slices.ContainsFunc(m.IDs(content.BlockResult), func(id string) bool { return c.calls()[id] != nil })
}

// calls are the records with calls, by the calls' ids.
func (c *Checker) calls() map[string]*node {
	if c.callMap == nil {
		c.callMap = make(map[string]*node, c.called.size())
		for _, n := range c.nodes {
			for id := range n.Each(content.BlockCall) {
				if !n.Side && c.callMap[id] == nil {
					c.callMap[id] = n
				}
			}
		}
	}
	return c.callMap
}

// callNamed is the record with the call that an output names by id: the first if there are several, nil if there is none.
// Usually it is the one that the output hangs on.
func (c *Checker) callNamed(output *node, id string) *node {
	if output.up != nil && !output.up.Side && output.up.Says(content.BlockCall, id) && c.called.apart() {
		return output.up
	}
	return c.calls()[id]
}

// answered says whether a call has an output. Usually that is among the first records that hang on the call.
func (c *Checker) answered(call *node, id string) bool {
	for m, steps := call.first, 0; m != nil && steps < 4; m, steps = m.latter, steps+1 {
		if !m.Side && m.Says(content.BlockResult, id) {
			return true
		}
	}
	return len(c.results()[id]) > 0
}

// results are the records with outputs, by the ids of the calls that they answer.
func (c *Checker) results() map[string][]*node {
	if c.resultMap == nil {
		c.resultMap = make(map[string][]*node, c.answers.size())
		alone := make([]*node, len(c.nodes)) // usually a call has one output, so all lists share one array
		for i, n := range c.nodes {
			for id := range n.Each(content.BlockResult) {
				switch list := c.resultMap[id]; {
				case n.Side:
				case list == nil && alone[i] == nil:
					alone[i] = n
					c.resultMap[id] = alone[i : i+1 : i+1]
				default:
					c.resultMap[id] = append(list, n)
				}
			}
		}
	}
	return c.resultMap
}
