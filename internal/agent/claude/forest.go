package claude

// siblings are a record's place among those that hang on the same one, and those that hang on it, as they were added.
type siblings struct {
	first, last    *node // that hang on it
	former, latter *node // beside it
	many           int32 // hang on it
}

// join puts a record behind the others that hang on the same one.
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

// leave takes a record out of those that hang on the same one.
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

// children are the records that hang on one, as they were added.
func (n *node) children() []*node {
	var all []*node
	for k := n.first; k != nil; k = k.latter {
		all = append(all, k)
	}
	return all
}

// under says whether m hangs on n, over whatever, or is n. It costs the depth of m: rules that ask for each record ask
// rooted, while roots find their parents, or a layout.
func under(m, n *node) bool {
	for m != nil && m != n {
		m = m.up
	}
	return m != nil
}

// grafts is what finds the root of a record while roots are hung on other trees and nothing is ever cut off: trees only
// grow together, so that what was once learnt stays a short cut (a union-find).
type grafts struct {
	above  *node // on the way to the root, the farthest that is known; nil at a root
	front  *node // of the same conversation in the file
	beyond *node // in front of the record, and as far as is known all between is of one tree with it
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

// rooted says whether m stands in the tree of which n is the root: then n can't hang on it.
func rooted(m, n *node) bool { return m != nil && m.root() == n }

// ahead is the last record in front of a root, in its conversation, that is not of its tree; nil if there is none.
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

// layout is where a record stands in its tree as long as nothing is moved: it hangs on another, over whatever, if it was
// entered while that one was being walked.
type layout struct {
	enter, exit int32
	said        *node // the nearest record at or above it that says something that is sent
}

// lay walks all trees once.
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

// within says whether a record hung on another, over whatever, or was it, when the trees were laid out.
func (l layout) within(n *node) bool { return n.enter <= l.enter && l.enter < n.exit }

// speaks says whether a record is a prompt or a part of an answer that is sent, not an output or what a client adds.
func (n *node) speaks() bool {
	switch n.role {
	case roleUser, roleAssistant, roleBoundary:
		return !n.synthetic && (!n.filler || n.sent())
	}
	return false
}
