package jsonl

import "bytes"

// watch scans the top-level value, which starts at i, and returns its end or
// -1. It goes through the containers whose keys matter: those down to
// duplicateDepth and those on the way to wanted values. All others it skips.
func (s *Scanner) watch(line []byte, i int) int {
	depth := 0
	at := s.root // the node of the value at i, nil if nothing in it is wanted
	for {
		// A value starts at i.
		if i >= len(line) {
			return s.failAt(line, i)
		}
		start := i
		path := -1
		if at != nil {
			path = at.path
		}
		c := line[i]
		switch {
		case c == '"':
			i = s.text(line, i+1)
		case c == '{' || c == '[':
			inner := at != nil && (c == '{' && at.children != nil || c == '[' && at.first != nil)
			if depth >= duplicateDepth && !inner {
				i = s.skip(line, i, depth)
				break
			}
			depth++
			s.verdict.Depth = max(s.verdict.Depth, depth)
			f := &s.frames[depth]
			*f = frame{path: path, start: start, object: c == '{'}
			if inner {
				f.node = at
			}
			i++
			if i < len(line) && line[i] <= ' ' {
				i = space(line, i)
			}
			if f.object {
				if depth <= duplicateDepth {
					s.keys.open(depth)
				}
				if i >= len(line) || line[i] != '}' {
					if i, at = s.key(line, i, depth); i < 0 {
						return -1
					}
					continue
				}
			} else if i >= len(line) || line[i] != ']' {
				if inner {
					at = at.first
				} else {
					at = nil
				}
				continue
			}
			path = -1 // it is empty: its bracket is met again below
		default:
			i = s.scalar(line, i)
		}
		if i < 0 {
			return -1
		}
		if path >= 0 {
			s.spans[path] = Span{start, i}
		}

		// A value ended before i: close what ends here, up to the next value.
		for {
			if depth == 0 {
				return i
			}
			if i < len(line) && line[i] <= ' ' {
				i = space(line, i)
			}
			if i >= len(line) {
				return s.failAt(line, i)
			}
			f := &s.frames[depth]
			c := line[i]
			if c == ',' {
				i++
				if i < len(line) && line[i] <= ' ' {
					i = space(line, i)
				}
				if f.object {
					if i, at = s.key(line, i, depth); i < 0 {
						return -1
					}
				} else {
					at = nil
				}
				break
			}
			if f.object && c == '}' {
				if depth <= duplicateDepth {
					s.keys.close(depth)
				}
			} else if f.object || c != ']' {
				return s.failAt(line, i)
			}
			i++
			if f.path >= 0 {
				s.spans[f.path] = Span{f.start, i}
			}
			depth--
		}
	}
}

// key scans the key at i, its colon and the white space around it. It returns
// where the value starts, or -1, and the node of the value.
func (s *Scanner) key(line []byte, i, depth int) (int, *node) {
	if i >= len(line) || line[i] != '"' {
		return s.failAt(line, i), nil
	}
	start := i + 1
	i = start

	// Whole words while they are plain; most keys end in the first or second.
	var h uint64
	for i+8 <= len(line) {
		w := load(line, i)
		m := stops(w)
		if m == 0 {
			h = fold(h, w)
			s.high |= w
			i += 8
			continue
		}
		n := first(m)
		if line[i+n] != '"' {
			break
		}
		i += n
		w = head(w, n)
		s.high |= w
		return s.known(line, start, i, fold(h, w)^uint64(i-start), depth, false)
	}

	if i = s.text(line, i); i < 0 {
		return -1, nil
	}
	i--
	name, escaped := line[start:i], false
	if bytes.IndexByte(name, '\\') >= 0 {
		name, escaped = s.keys.decode(name), true
	}
	return s.known(line, start, i, hash(name), depth, escaped)
}

// known looks up the key line[start:end] and goes on to its value. h is the hash
// of the decoded key, which is in s.keys.decoded if it has escapes.
func (s *Scanner) known(line []byte, start, end int, h uint64, depth int, escaped bool) (int, *node) {
	name := line[start:end]
	if escaped {
		name = s.keys.decoded
	}
	var at *node
	if n := s.frames[depth].node; n != nil {
		if at = n.child(name, h); at != nil {
			for _, p := range at.below {
				s.spans[p] = Span{}
			}
		}
	}
	if depth <= duplicateDepth && s.verdict.Duplicate < 0 && s.keys.seen(line, start, end, name, h, depth) {
		s.verdict.Duplicate, s.verdict.DuplicateDepth = start-1, depth
	}
	return s.colon(line, end+1), at
}

// colon passes the colon behind a key that ended before i.
func (s *Scanner) colon(line []byte, i int) int {
	if i < len(line) && line[i] <= ' ' {
		i = space(line, i)
	}
	if i >= len(line) || line[i] != ':' {
		return s.failAt(line, i)
	}
	i++
	if i < len(line) && line[i] <= ' ' {
		i = space(line, i)
	}
	return i
}
