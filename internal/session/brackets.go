package session

import "bytes"

// The functions of this file find their way in a line by its brackets and quotes alone. The line may be damaged JSON.

// ObjectAround returns the range of the object that has the key at offset key, looking no further back than from; ok is
// false if there is none.
func ObjectAround(line []byte, from, key int) (start, end int, ok bool) {
	level := enclosing(line[from:], key-from)
	if level < 0 {
		return 0, 0, false
	}
	return from + level, containerEnd(line, from+level), true
}

// TextBehind returns the range of a member's text, without the quotes, if its key ends at offset key; ok is false if the
// value is not a text.
func TextBehind(line []byte, key int) (start, end int, ok bool) {
	colon := skipSpace(line, key, 1)
	if colon >= len(line) || line[colon] != ':' {
		return 0, 0, false
	}
	quote := skipSpace(line, colon+1, 1)
	if quote >= len(line) || line[quote] != '"' {
		return 0, 0, false
	}
	return quote + 1, quote + LiteralEnd(line[quote:]) - 1, true
}

// containerEnd is the offset behind the object or array that begins at start.
func containerEnd(line []byte, start int) int {
	depth := 0
	for i := start; i < len(line); i++ {
		switch line[i] {
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		case '"':
			i += LiteralEnd(line[i:]) - 1
		}
	}
	return len(line)
}

// enclosing is the offset of the innermost object or array that is open at offset at, -1 if there is none.
func enclosing(line []byte, at int) int {
	var open []int
	for i := 0; i < at; {
		switch line[i] {
		case '{', '[':
			open = append(open, i)
		case '}', ']':
			open = open[:max(0, len(open)-1)]
		case '"':
			i += LiteralEnd(line[i:])
			continue
		}
		i++
	}
	if len(open) == 0 {
		return -1
	}
	return open[len(open)-1]
}

// LiteralEnd is the length of the string literal with which b begins.
func LiteralEnd(b []byte) int {
	for i := 1; ; {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return len(b)
		}
		i += n + 1
		slashes := 0
		for b[i-2-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return i
		}
	}
}

// skipSpace is the first place, from i on in steps of 1 or -1, that holds no space or tab.
func skipSpace(line []byte, i, step int) int {
	for i >= 0 && i < len(line) && (line[i] == ' ' || line[i] == '\t') {
		i += step
	}
	return i
}
