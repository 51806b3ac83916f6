package jsonl

// scalar checks the number or literal at i and returns its end or -1.
func (s *Scanner) scalar(line []byte, i int) int {
	switch c := line[i]; {
	case c == '-' || digit(c):
		return s.number(line, i)
	case c == 't':
		return s.literal(line, i, "true")
	case c == 'f':
		return s.literal(line, i, "false")
	case c == 'n':
		return s.literal(line, i, "null")
	}
	return s.failAt(line, i)
}

func (s *Scanner) literal(line []byte, i int, want string) int {
	if end := i + len(want); end <= len(line) && string(line[i:end]) == want {
		return end
	}
	for k := 0; k < len(want); k++ {
		if i+k >= len(line) || line[i+k] != want[k] {
			return s.failAt(line, i+k)
		}
	}
	return i + len(want)
}

func (s *Scanner) number(line []byte, i int) int {
	if line[i] == '-' {
		i++
	}
	if i < len(line) && line[i] == '0' {
		i++
	} else if i = s.digits(line, i); i < 0 {
		return -1
	}
	if i < len(line) && line[i] == '.' {
		if i = s.digits(line, i+1); i < 0 {
			return -1
		}
	}
	if i < len(line) && line[i]|0x20 == 'e' {
		i++
		if i < len(line) && (line[i] == '+' || line[i] == '-') {
			i++
		}
		return s.digits(line, i)
	}
	return i
}

// digits passes one or more digits.
func (s *Scanner) digits(line []byte, i int) int {
	if i >= len(line) || !digit(line[i]) {
		return s.failAt(line, i)
	}
	for i < len(line) && digit(line[i]) {
		i++
	}
	return i
}

func digit(c byte) bool { return c-'0' <= 9 }
