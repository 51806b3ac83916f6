package jsonl

import "bytes"

// watch scans the top-level value, which starts at i, and returns its end or
// -1. It goes through the containers whose keys matter: those down to
// duplicateDepth and those on the way to wanted values. All others it skips.
func (s *Scanner) watch(line []byte, i int) int {
	depth := 0   // of the container around the value at i
	at := s.root // the node of that value, nil if nothing in it is wanted
	for {
		// A value starts at i.
		if i >= len(line) {
			return s.failAt(line, i)
		}
		start, within := i, false
		switch c := line[i]; {
		case c == '"':
			i = s.text(line, i+1)
		case c != '{' && c != '[':
			i = s.scalar(line, i)
		case depth >= duplicateDepth && !at.wants(c):
			i = s.skip(line, i, depth)
		default:
			depth++
			i, at, within = s.enter(line, i, depth, at)
		}
		if i < 0 {
			return -1
		}
		if within {
			continue
		}
		if at != nil && at.path >= 0 {
			s.spans[at.path] = Span{start, i}
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
			if line[i] != ',' {
				if i = s.leave(line, i, depth); i < 0 {
					return -1
				}
				depth--
				continue
			}
			i++
			if i < len(line) && line[i] <= ' ' {
				i = space(line, i)
			}
			at = nil
			if s.frames[depth].object {
				if i, at = s.key(line, i, depth); i < 0 {
					return -1
				}
			}
			break
		}
	}
}

// enter goes into the container at i, which is the depth-th, and on to its first
// value: it returns where that starts, its node, and true. If the container is
// empty, it returns the place of the bracket that closes it, and false. The
// place is -1 after a fault.
func (s *Scanner) enter(line []byte, i, depth int, at *node) (next int, first *node, within bool) {
	c := line[i]
	f := &s.frames[depth]
	*f = frame{path: -1, start: i, object: c == '{'}
	if at != nil {
		f.path = at.path
	}
	if at.wants(c) {
		f.node = at
	}
	s.verdict.Depth = max(s.verdict.Depth, depth)
	if f.compared = f.object && (depth <= duplicateDepth || f.node != nil && depth <= wantedDepth); f.compared {
		s.keys.open(depth)
	}
	i++
	if i < len(line) && line[i] <= ' ' {
		i = space(line, i)
	}
	if i < len(line) && line[i] == c+('}'-'{') { // a closing bracket comes two behind its opening one in ASCII, curly or square
		return i, nil, false
	}
	if f.object {
		i, first = s.key(line, i, depth)
		return i, first, true
	}
	if f.node != nil {
		first = f.node.first
	}
	return i, first, true
}

// leave goes out of the depth-th container, if the bracket at i closes it, and
// returns its end or -1.
func (s *Scanner) leave(line []byte, i, depth int) int {
	f := &s.frames[depth]
	switch {
	case f.object && line[i] == '}':
		if f.compared {
			s.keys.close(depth)
		}
	case f.object || line[i] != ']':
		return s.failAt(line, i)
	}
	i++
	if f.path >= 0 {
		s.spans[f.path] = Span{f.start, i}
	}
	return i
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
	if s.frames[depth].compared && s.verdict.Duplicate < 0 && s.keys.seen(line, start, end, name, h, depth) {
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
