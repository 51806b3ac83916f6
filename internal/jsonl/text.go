package jsonl

import (
	"math/bits"
	"unicode/utf16"
)

// shortText is how many bytes of a string are looked at word by word before it
// is taken for a long one.
const shortText = 40

// text checks the rest of a string from i on and returns the position behind
// its closing quote, or -1.
func (s *Scanner) text(line []byte, i int) int {
	for i < s.marked {
		m := s.marks[i>>6] >> (i & 63)
		if m == 0 {
			i = (i | 63) + 1
			continue
		}
		i += bits.TrailingZeros64(m)
		if line[i] == '"' {
			return i + 1
		}
		if i = s.odd(line, i); i < 0 {
			return -1
		}
	}
	return s.unmarked(line, i)
}

// unmarked is text where the line is not marked.
func (s *Scanner) unmarked(line []byte, i int) int {
	var high uint64
	for long := i + shortText; i+8 <= len(line); {
		w := load(line, i)
		high |= w
		m := stops(w)
		if m == 0 {
			i += 8
		} else {
			i += first(m)
			if line[i] == '"' {
				s.high |= high
				return i + 1
			}
			if i = s.odd(line, i); i < 0 {
				return -1
			}
		}
		if i >= long && i+64 <= len(line) {
			var done bool
			if i, done = s.blocks(line, i); done {
				s.high |= high
				return i
			}
			// Fewer than 64 bytes are left.
		}
	}
	s.high |= high
	for i < len(line) {
		switch c := line[i]; {
		case c == '"':
			return i + 1
		case c == '\\' || c < ' ':
			if i = s.odd(line, i); i < 0 {
				return -1
			}
		default:
			s.high |= uint64(c)
			i++
		}
	}
	return s.failAt(line, i)
}

// blocks is text for 64 bytes at a time. It is done, with the result of text, or
// it stops where fewer than 64 bytes are left. Plain blocks are passed by one
// test; in the others a mask says where to look.
func (s *Scanner) blocks(line []byte, i int) (next int, done bool) {
	if wide {
		return s.wideBlocks(line, i)
	}
	var high uint64
	dense := false // the block before was not plain: this one may not be either
	for i+64 <= len(line) {
		b := line[i : i+64 : i+64]
		w0, w1, w2, w3 := load(b, 0), load(b, 8), load(b, 16), load(b, 24)
		w4, w5, w6, w7 := load(b, 32), load(b, 40), load(b, 48), load(b, 56)
		high |= w0 | w1 | w2 | w3 | w4 | w5 | w6 | w7
		if !dense && stops(w0)|stops(w1)|stops(w2)|stops(w3)|stops(w4)|stops(w5)|stops(w6)|stops(w7) == 0 {
			i += 64
			continue
		}
		mask := gather(w0) | gather(w1)<<8 | gather(w2)<<16 | gather(w3)<<24 |
			gather(w4)<<32 | gather(w5)<<40 | gather(w6)<<48 | gather(w7)<<56
		dense = mask != 0
		end := i + 64
		for mask != 0 {
			k := bits.TrailingZeros64(mask)
			j := i + k
			c := line[j]
			if c == '"' {
				s.high |= high
				return j + 1, true
			}
			if c == '\\' && j+1 < len(line) && simple[line[j+1]] {
				mask &^= 3 << (k & 63)
				if k == 63 {
					end++
				}
				continue
			}
			if j = s.odd(line, j); j < 0 {
				return -1, true
			}
			if j >= end {
				end = j
				break
			}
			k = j - i
			mask = mask >> (k & 63) << (k & 63)
		}
		i = end
	}
	s.high |= high
	return i, false
}

// odd passes the escape or the control character at i.
func (s *Scanner) odd(line []byte, i int) int {
	if line[i] != '\\' {
		if s.control < 0 {
			s.control = i
		}
		return i + 1
	}
	if i+1 < len(line) {
		switch escapes[line[i+1]] {
		case 0:
			return s.failAt(line, i+1)
		case 'u':
			return s.unicode(line, i)
		}
	}
	return i + 2
}

// unicode passes the \uXXXX at i, or two of them that are a surrogate pair.
func (s *Scanner) unicode(line []byte, i int) int {
	r, n := hex4(line, i+2)
	if n < 4 {
		return s.failAt(line, i+2+n)
	}
	if !utf16.IsSurrogate(r) {
		return i + 6
	}
	if low, ok := escapeAt(line, i+6); ok && r < 0xdc00 && low >= 0xdc00 && low <= 0xdfff {
		return i + 12
	}
	if s.verdict.Surrogate < 0 {
		s.verdict.Surrogate = i
	}
	return i + 6
}

// escapeAt reads the \uXXXX at i, if there is one.
func escapeAt(line []byte, i int) (rune, bool) {
	if i+6 > len(line) || line[i] != '\\' || line[i+1] != 'u' {
		return 0, false
	}
	r, n := hex4(line, i+2)
	return r, n == 4
}

// hex4 reads four hexadecimal digits; n is how many there are.
func hex4(line []byte, i int) (r rune, n int) {
	for n < 4 && i+n < len(line) {
		d := hexDigits[line[i+n]]
		if d < 0 {
			break
		}
		r = r<<4 | rune(d)
		n++
	}
	return r, n
}

// escapes gives, for the byte behind a backslash, the byte it stands for, 'u'
// for 'u', and 0 if there is no such escape.
var escapes = [256]byte{
	'"': '"', '\\': '\\', '/': '/',
	'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'u': 'u',
}

// simple tells which bytes behind a backslash make an escape of two bytes.
var simple = func() (t [256]bool) {
	for c, e := range escapes {
		t[c] = e != 0 && e != 'u'
	}
	return t
}()

// hexDigits gives the value of a hexadecimal digit, -1 for other bytes.
var hexDigits = func() (t [256]int8) {
	for c := range t {
		switch {
		case c >= '0' && c <= '9':
			t[c] = int8(c - '0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			t[c] = int8(c | 0x20 - 'a' + 10)
		default:
			t[c] = -1
		}
	}
	return t
}()
