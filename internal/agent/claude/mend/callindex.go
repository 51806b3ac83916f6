package mend

import (
	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/agent/claude/format"
)

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

// firstSiblings is a version that hangs each of several outputs on its own call. Up to 2.0.76, each output hangs on the one
// before it, and the first one on the last record of the answer; these versions read along that one path only (measured).
const firstSiblings = "2.1.0"

// chains says whether the client that wrote a record hangs outputs on each other: see firstSiblings.
func (n *node) chains() bool { return format.Before(n.Version, firstSiblings) }

// chainEnd is what the next output would hang on in such a chain: the last record, before a place among the records, of the
// answer with the call or of its outputs. whole says that nothing else stands in between.
func (c *Checker) chainEnd(call *node, until int) (end *node, whole bool) {
	end = call
	from := call.index + 1
	for _, m := range c.nodes[from:max(from, min(until, call.index+maxSiblings, len(c.nodes)))] {
		switch {
		case m.Side || m.dropped != nil:
			continue
		case m.Role == content.RoleResult, m.Role == content.RoleAssistant && m.Msg == call.Msg && m.Msg != "":
			end = m
		default:
			return end, false
		}
	}
	return end, true
}

// intoChain inserts an output that hist wrote into a chain, above the answer's other outputs and what follows them.
func (c *Checker) intoChain(d *draft, n, next *node) {
	for _, k := range n.up.children() {
		if k != n && (k.Role == content.RoleResult || k == next) {
			c.hang(k, n, d)
		}
	}
}
