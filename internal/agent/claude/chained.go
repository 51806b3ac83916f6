package claude

// firstSiblings is a version that hangs each of several outputs on its own call. Up to 2.0.76 each hangs on the one that
// came before it and the first on the last record of the answer, and their readers follow that one path only (measured).
const firstSiblings = "2.1.0"

// chains says whether the client that wrote a record hung outputs behind each other.
func (n *node) chains() bool { return n.version != "" && before(n.version, firstSiblings) }

// chainEnd is what an output would hang on, where they hang behind each other: the last record of the answer with its call,
// of its outputs and of what their tools said, in front of a place among the records. whole says that nothing else stands
// between.
func (c *Checker) chainEnd(call *node, until int) (end *node, whole bool) {
	end = call
	said, answered := end, false
	from := call.index + 1
	for _, m := range c.nodes[from:max(from, min(until, call.index+maxSiblings, len(c.nodes)))] {
		switch {
		case m.side || m.dropped != nil:
			continue
		case m.role == roleResult:
			answered = true
		case m.role == roleAssistant && m.msg == call.msg && m.msg != "":
		case answered && (m.role == roleUser || m.role == roleLink): // a tool says something only behind an output
			said = m
			continue
		default:
			return end, false
		}
		end, said = m, m
	}
	return said, true
}

// intoChain puts an output of hist's own between what it hangs on and what hung there: the other outputs of the answer, and
// what follows.
func (c *Checker) intoChain(d *draft, n, next *node) {
	for _, k := range n.up.children() {
		if k != n && (k.role == roleResult || k == next) {
			c.hang(k, n, d)
		}
	}
}

// between says whether a record stands on the way up from another to a call, or whether that way leads elsewhere.
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
