package jsonl

// scalar checks the number or literal at i and returns its end or -1.
func (s *Scanner) scalar(line []byte, i int) int {
	switch c := line[i]; {
	case c == '-' || digit(c):
		return s.number(line, i)
	case c == 'n':
		if i+4 <= len(line) && string(line[i:i+4]) == "null" {
			return i + 4
		}
		return s.literal(line, i, "null")
	case c == 't':
		if i+4 <= len(line) && string(line[i:i+4]) == "true" {
			return i + 4
		}
		return s.literal(line, i, "true")
	case c == 'f':
		if i+5 <= len(line) && string(line[i:i+5]) == "false" {
			return i + 5
		}
		return s.literal(line, i, "false")
	}
	return s.failAt(line, i)
}

// literal reports where the literal at i, which is broken or cut by the end of the line, is not the one wanted.
func (s *Scanner) literal(line []byte, i int, want string) int {
	for k := 0; k < len(want) && i < len(line) && line[i] == want[k]; k++ {
		i++
	}
	return s.failAt(line, i)
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
