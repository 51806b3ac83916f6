package claude

import (
	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/agent/claude/format"
)

// firstSiblings is a version that hangs each of several outputs on its own call. Up to 2.0.76, each output hangs on the one
// before it, and the first one on the last record of the answer; these versions read along that one path only (measured).
const firstSiblings = "2.1.0"

// chains says whether the client that wrote a record hangs outputs on each other: see firstSiblings.
func (n *node) chains() bool { return n.Version != "" && format.Before(n.Version, firstSiblings) }

// chainEnd is what the next output would hang on in such a chain: the last record, before a place among the records, of the
// answer with the call, of its outputs, or of what their tools said. whole says that nothing else stands in between.
func (c *Checker) chainEnd(call *node, until int) (end *node, whole bool) {
	end = call
	said, answered := end, false
	from := call.index + 1
	for _, m := range c.nodes[from:max(from, min(until, call.index+maxSiblings, len(c.nodes)))] {
		switch {
		case m.Side || m.dropped != nil:
			continue
		case m.Role == content.RoleResult:
			answered = true
		case m.Role == content.RoleAssistant && m.Msg == call.Msg && m.Msg != "":
		case answered && (m.Role == content.RoleUser || m.Role == content.RoleLink): // a tool says something only behind an output
			said = m
			continue
		default:
			return end, false
		}
		end, said = m, m
	}
	return said, true
}

// intoChain inserts an output that hist wrote into a chain, above the answer's other outputs and what follows them.
func (c *Checker) intoChain(d *draft, n, next *node) {
	for _, k := range n.up.children() {
		if k != n && (k.Role == content.RoleResult || k == next) {
			c.hang(k, n, d)
		}
	}
}

// between says whether a record is on the way up from another one to a call, or whether that way leads elsewhere.
func between(m, from, call *node) bool {
	for p, steps := from, 0; p != nil && steps < maxSiblings; p, steps = p.up, steps+1 {
		switch p {
		case m:
			return true
		case call:
			return false
		}
	}
	return true
}
