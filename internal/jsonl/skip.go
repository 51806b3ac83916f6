package jsonl

// skip checks the container that starts at i, inside depth others, and returns
// its end or -1. It only validates. Of each open container it keeps one bit, 1
// for an object: the 64 innermost at most in kinds, the others in s.kinds.
func (s *Scanner) skip(line []byte, i, depth int) int {
	var kinds uint64
	open := 0 // containers
	for {
		// A value starts at i.
		if i >= len(line) {
			return s.failAt(line, i)
		}
		switch c := line[i]; c {
		case '"':
			i = s.text(line, i+1)
		case '{', '[':
			if open&63 == 0 && open > 0 {
				s.kinds.push(kinds)
			}
			open++
			s.verdict.Depth = max(s.verdict.Depth, depth+open)
			i = space(line, i+1)
			if c == '{' {
				kinds = kinds<<1 | 1
				if i >= len(line) || line[i] != '}' {
					if i = s.name(line, i); i < 0 {
						return -1
					}
					continue
				}
			} else {
				kinds <<= 1
				if i >= len(line) || line[i] != ']' {
					continue
				}
			}
			// It is empty: its bracket is met again below.
		default:
			i = s.scalar(line, i)
		}
		if i < 0 {
			return -1
		}

		// A value ended before i: close what ends here, up to the next value.
		for {
			if i < len(line) && line[i] <= ' ' {
				i = space(line, i)
			}
			if i >= len(line) {
				return s.failAt(line, i)
			}
			c := line[i]
			if c == ',' {
				i++
				if i < len(line) && line[i] <= ' ' {
					i = space(line, i)
				}
				if kinds&1 != 0 {
					if i = s.name(line, i); i < 0 {
						return -1
					}
				}
				break
			}
			if c != ']'+byte(kinds&1)*('}'-']') {
				return s.failAt(line, i)
			}
			i++
			open--
			if open == 0 {
				return i
			}
			if open&63 == 0 {
				kinds = s.kinds.pop()
			} else {
				kinds >>= 1
			}
		}
	}
}

// name passes a key that nobody wants, and its colon.
func (s *Scanner) name(line []byte, i int) int {
	if i >= len(line) || line[i] != '"' {
		return s.failAt(line, i)
	}
	if i = s.text(line, i+1); i < 0 {
		return -1
	}
	return s.colon(line, i)
}
