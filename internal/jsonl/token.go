package jsonl

import (
	"bytes"
	"slices"
)

// A token is a piece of a line that is learned as one: a key with what stands around it, a value, or a bracket.
type token struct {
	start, end int // in the line, without the rest of a value in a hole
	hole       hole
	depth      int
	path       int // that it has to do with, or -1
	part       part
	name       bool // a value that may come again
}

// part is which part of a path's value a token is.
type part uint8

const (
	allOf   part = iota // all of it, or its begin and the hole
	beginOf             // the bracket that opens it
	endOf               // the bracket that closes it
)

// marks appends where in a stretch, in which the token stands at at, a span begins and ends.
func (t *token) marks(list []mark, at int) []mark {
	if t.path < 0 || t.hole != branch {
		return list
	}
	m := mark{t.path, at, at + t.end - t.start}
	switch t.part {
	case beginOf:
		m.to = -1
	case endOf:
		m.from = -1
	}
	return append(list, m)
}

// level is an open container.
type level struct {
	node   *node // its place in the shape, nil if nothing below is wanted
	path   int
	object bool
}

// cutter cuts one sound line into tokens. A scanner uses its own for each of its lines, for the room in the lists.
type cutter struct {
	scanner *Scanner
	line    []byte
	list    []token
	open    []level // the containers around the value in hand
	met     []*node // of the wanted keys so far
	deepest int     // of the containers that are looked into, or empty
}

// tokens cuts a line that is one sound value, from i on. ok says whether it can be learned: it is not too long, has no
// key with escapes, and nothing wanted comes twice.
func (s *Scanner) tokens(line []byte, i int) (list []token, ok bool) {
	c := &s.cutter
	*c = cutter{scanner: s, line: line, list: c.list[:0], open: c.open[:0], met: c.met[:0]}
	ok = c.cut(i)
	c.line = nil
	return c.list, ok
}

// cut is tokens.
func (c *cutter) cut(i int) (ok bool) {
	at := c.scanner.root // the node of the value at i, nil if nothing in it is wanted
	for len(c.list) < mostTokens {
		entered := c.looksInto(i, at)
		if entered {
			i = c.enter(i, at)
		} else if i = c.value(i, at); i < 0 {
			return false
		}
		for len(c.open) > 0 {
			end, closed := c.leave(i)
			if !closed {
				break
			}
			i, entered = end, false
		}
		if len(c.open) == 0 {
			c.list = append(c.list, token{start: i, end: i, hole: lineEnd, path: -1, depth: c.deepest})
			return true
		}
		if i, at, ok = c.next(i, entered); !ok {
			return false
		}
	}
	return false
}

// looksInto says whether the value at i is a container whose values are tokens of their own.
func (c *cutter) looksInto(i int, at *node) bool {
	switch c.line[i] {
	case '{':
		return at.wants('{') || len(c.open) < templateDepth
	case '[':
		return at.wants('[') || len(c.open)+1 < duplicateDepth
	}
	return false
}

// enter cuts off the bracket at i that opens a container, with the white space behind it, and returns what follows.
func (c *cutter) enter(i int, at *node) int {
	l := level{path: -1, object: c.line[i] == '{'}
	if at != nil {
		l.path = at.path
	}
	if at.wants(c.line[i]) {
		l.node = at
	}
	c.open = append(c.open, l)
	c.deepest = max(c.deepest, len(c.open))
	end := space(c.line, i+1)
	c.list = append(c.list, token{start: i, end: end, path: l.path, part: beginOf})
	return end
}

// leave cuts off the bracket at i, with the white space in front of it, if it closes the innermost container, and returns
// what follows.
func (c *cutter) leave(i int) (end int, closed bool) {
	end = space(c.line, i)
	if c.line[end] != ']' && c.line[end] != '}' {
		return i, false
	}
	end++
	last := len(c.open) - 1
	c.list = append(c.list, token{start: i, end: end, path: c.open[last].path, part: endOf})
	c.open = c.open[:last]
	return end, true
}

// next cuts off what stands in front of the next value of the innermost container: a comma, unless the container has just
// been entered, and in an object the key. It returns where the value starts, and its node.
func (c *cutter) next(i int, entered bool) (start int, at *node, ok bool) {
	l := c.open[len(c.open)-1]
	from := i
	i = space(c.line, i)
	if !entered {
		i = space(c.line, i+1)
	}
	switch {
	case l.object:
		key := c.line[i+1 : c.scanner.text(c.line, i+1)-1]
		if bytes.IndexByte(key, '\\') >= 0 {
			return i, nil, false
		}
		if l.node != nil {
			at = l.node.child(key, hash(key))
		}
		if at != nil {
			if slices.Contains(c.met, at) {
				return i, nil, false
			}
			c.met = append(c.met, at)
		}
		i = space(c.line, i+len(key)+2)
		i = space(c.line, i+1) // a colon
	case entered && l.node != nil:
		at = l.node.first
	}
	c.list = append(c.list, token{start: from, end: i, path: -1})
	return i, at, true
}

// value cuts off a value that is not looked into, and returns its end, -1 if that can't be.
func (c *cutter) value(i int, at *node) int {
	t, end := c.scanner.value(c.line, i, len(c.open))
	if end < 0 {
		return -1
	}
	if at != nil {
		t.path = at.path
	}
	if t.hole == branch { // empty: skip counts how deep the others are
		c.deepest = max(c.deepest, t.depth)
	}
	c.list = append(c.list, t)
	return end
}

// value is the token of a value that is not looked into, and where it ends, -1 if that can't be. A list that is empty has
// its depth in the token.
func (s *Scanner) value(line []byte, i, depth int) (token, int) {
	switch line[i] {
	case '"':
		end := s.text(line, i+1)
		if isName(line[i+1 : end-1]) {
			return token{start: i, end: end, path: -1, name: true}, end
		}
		return token{start: i, end: i + 1, hole: textHole, path: -1}, end
	case '[', '{':
		if end := space(line, i+1); line[end] == line[i]+2 {
			return token{start: i, end: end + 1, path: -1, depth: depth + 1}, end + 1
		}
		return token{start: i, end: i + 1, hole: insideHole, path: -1, depth: depth}, s.skip(line, i, depth)
	}
	end := s.scalar(line, i)
	if line[i] != '-' && !digit(line[i]) { // true, false or null
		return token{start: i, end: end, path: -1, name: true}, end
	}
	return token{start: i, end: i, hole: scalarHole, path: -1}, end
}

// loose makes the token of a name one of any value that begins alike.
func (t *token) loose(line []byte) {
	if t.end, t.hole = t.start, scalarHole; line[t.start] == '"' {
		t.end, t.hole = t.start+1, textHole
	}
}

// isName says whether a string looks like one of a few that come again, rather than a text or an id.
func isName(text []byte) bool {
	if len(text) == 0 || len(text) > 40 {
		return false
	}
	for _, c := range text {
		if (c|0x20 < 'a' || c|0x20 > 'z') && c != '_' && c != '-' {
			return false
		}
	}
	return true
}
