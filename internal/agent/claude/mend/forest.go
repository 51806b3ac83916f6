package mend

import "github.com/hist-cli/hist/internal/agent/claude/content"

// siblings link a record to the others that hang on the same parent, and to its own children, in the order in which they were
// added.
type siblings struct {
	first, last    *node // of its children
	former, latter *node // its neighbours among its parent's children
}

// join adds a record to its parent's children, as the last.
func (n *node) join() {
	p := n.up
	if p == nil {
		return
	}
	n.former, n.latter = p.last, nil
	if p.last != nil {
		p.last.latter = n
	} else {
		p.first = n
	}
	p.last = n
	p.many++
}

// leave removes a record from its parent's children.
func (n *node) leave() {
	p := n.up
	if p == nil {
		return
	}
	if n.former != nil {
		n.former.latter = n.latter
	} else {
		p.first = n.latter
	}
	if n.latter != nil {
		n.latter.former = n.former
	} else {
		p.last = n.former
	}
	n.former, n.latter = nil, nil
	p.many--
}

// children are the records that hang on this one, in the order in which they were added.
func (n *node) children() []*node {
	var all []*node
	for k := n.first; k != nil; k = k.latter {
		all = append(all, k)
	}
	return all
}

// overLinks is a record itself, or the nearest one above it that is more than what the client adds by itself; nil if there is none.
func overLinks(n *node) *node {
	for n != nil && n.Role == content.RoleLink {
		n = n.up
	}
	return n
}

// under says whether n is m or an ancestor of m. It costs the depth of m: rules that ask for every record use rooted, while
// roots find their parents, or a layout.
func under(m, n *node) bool {
	for m != nil && m != n {
		m = m.up
	}
	return m != nil
}

// grafts finds the root of a record while roots are hung on other trees. Nothing is cut off meanwhile, so trees only grow
// together, and a shortcut once found stays valid (a union-find). Later, outputs are moved with what hangs on them: then a shortcut
// may lead to a root that the record has left, which is only a worse guess, as long as no way up is a circle (hang).
type grafts struct {
	above  *node // the farthest known ancestor; nil at a root
	front  *node // the record before this one in the file that is of the same conversation
	beyond *node // a record in front of this one; all between the two are known to be of its tree
}

// root is the top of the tree that a record stands in.
func (n *node) root() *node {
	top := n
	for top.above != nil {
		top = top.above
	}
	for n != top {
		n, n.above = n.above, top
	}
	return top
}

// renew drops all shortcuts on the way up from a record.
func (n *node) renew() {
	for ; n != nil; n = n.up {
		n.above = n.up
	}
}

// rooted says whether n is the root of m's tree: then n can't hang on m.
func rooted(m, n *node) bool { return m != nil && m.root() == n }

// ahead is the nearest record in front of a root, in its conversation, that is not of its tree; nil if there is none.
func (n *node) ahead() *node {
	at := n
	for at.beyond != nil && at.beyond.root() == n {
		at = at.beyond
	}
	found := at.beyond
	for m := n; m != at; {
		m, m.beyond = m.beyond, found
	}
	return found
}

// layout is a record's place in a depth-first walk of its tree, valid until something is moved. A record is below another if it
// was entered while that one was being walked.
type layout struct {
	enter, exit int32
	said        *node // the nearest record, at or above this one, that speaks
}

// lay walks all trees once, and gives each record its layout.
func (c *Checker) lay() {
	step := int32(0)
	for _, n := range c.all() {
		if n.up != nil {
			continue
		}
		for m := n; m != nil; {
			m.enter, m.said = step, m
			if step++; !m.speaks() {
				if m.said = nil; m.up != nil {
					m.said = m.up.said
				}
			}
			if m.first != nil {
				m = m.first
				continue
			}
			for m.exit = step; m != n && m.latter == nil; m.exit = step {
				m = m.up
			}
			if m == n {
				break
			}
			m = m.latter
		}
	}
}

// within says whether a record was below another, or was it, when the trees were laid out.
func (l layout) within(n *node) bool { return n.enter <= l.enter && l.enter < n.exit }

// speaks says whether a record is a prompt, a part of an answer that is sent, or a compaction's mark; not an output, nor what
// the client adds by itself.
func (n *node) speaks() bool {
	switch n.Role {
	case content.RoleUser, content.RoleAssistant, content.RoleBoundary:
		return !n.Synthetic && (!n.Filler || n.Sent())
	}
	return false
}
