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
	name       bool // a text that may come again
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

// tokens cuts a line that is one sound value, from i on. ok says whether it can be learned: it is not too long, has no
// key with escapes, and nothing wanted comes twice.
func (s *Scanner) tokens(line []byte, i int) (list []token, ok bool) {
	list = s.cut[:0]
	defer func() { s.cut = list }()
	open, met := make([]level, 0, 2*templateDepth), make([]*node, 0, 32)
	at, deepest := s.root, 0
	for len(list) < mostTokens {
		// A value starts at i.
		entered := false
		inner := at != nil && (line[i] == '{' && at.children != nil || line[i] == '[' && at.first != nil)
		if inner || line[i] == '{' && len(open) < templateDepth || line[i] == '[' && len(open)+1 < duplicateDepth {
			l := level{path: -1, object: line[i] == '{'}
			if at != nil {
				l.path = at.path
			}
			tok := token{start: i, end: space(line, i+1), path: l.path, part: beginOf}
			if inner {
				l.node = at
			}
			open, entered = append(open, l), true
			deepest = max(deepest, len(open))
			list, i = append(list, tok), tok.end
		} else {
			var tok token
			if tok, i = s.value(line, i, len(open)); i < 0 {
				return list, false
			}
			if at != nil {
				tok.path = at.path
			}
			if tok.hole == branch && tok.depth > 0 {
				deepest = max(deepest, tok.depth)
			}
			list = append(list, tok)
		}

		// Up to the next value: brackets are closed, and a key is passed.
		at = nil
		for {
			if len(open) == 0 {
				return append(list, token{start: i, end: i, hole: lineEnd, path: -1, depth: deepest}), true
			}
			l := open[len(open)-1]
			tok := token{start: i, path: -1}
			i = space(line, i)
			if line[i] == ']' || line[i] == '}' {
				i++
				tok.end, tok.path, tok.part = i, l.path, endOf
				list, open, entered = append(list, tok), open[:len(open)-1], false
				continue
			}
			if !entered {
				i = space(line, i+1) // a comma
			} else if l.node != nil {
				at = l.node.first // nil in an object
			}
			if l.object {
				key := line[i+1 : s.text(line, i+1)-1]
				if bytes.IndexByte(key, '\\') >= 0 {
					return list, false
				}
				if l.node != nil {
					at = l.node.child(key, hash(key))
				}
				if at != nil {
					if slices.Contains(met, at) {
						return list, false
					}
					met = append(met, at)
				}
				i = space(line, i+len(key)+2)
				i = space(line, i+1) // a colon
			}
			tok.end = i
			list = append(list, tok)
			break
		}
	}
	return list, false
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
	return token{start: i, end: i, hole: scalarHole, path: -1}, s.scalar(line, i)
}

// loose makes the token of a name one of any text.
func (t *token) loose() { t.end, t.hole = t.start+1, textHole }

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
