package jsonl

// Where the processor can, most of a text is looked at many bytes at a time, in assembly (wide_amd64.s). It finds nothing that the
// Go code does not, and decides nothing: what is not plain is left to that.

// maxWide is how many blocks are passed in one piece: the scheduler can't stop a goroutine in between.
const maxWide = 1 << 12

// maxMarked is the length in bytes of the longest line that is marked. In longer ones, texts are so long that it takes less to look at
// each by itself.
const maxMarked = 2048

// mark marks, in one go, all places where the texts of a line stop: at their quotes, at control characters, and at escapes that are
// not of two bytes. Most texts of most lines are shorter than the work of finding the end of each by itself.
func (s *Scanner) mark(line []byte) {
	if wide && len(line) >= 64 && len(line) <= maxMarked {
		if markStops(&line[0], len(line), &s.marks[0]) {
			s.high |= highs
		}
		s.marked = len(line)
	}
}

// wideBlocks is blocks where there is passText.
func (s *Scanner) wideBlocks(line []byte, i int) (next int, done bool) {
	for i+64 <= len(line) {
		n, high := passText(&line[i], min((len(line)-i)/64, maxWide))
		if high {
			s.high |= highs
		}
		for i += n; i < len(line); {
			c := line[i]
			if c == '"' {
				return i + 1, true
			}
			if c != '\\' && c >= ' ' {
				break
			}
			if i = s.odd(line, i); i < 0 {
				return -1, true
			}
		}
	}
	return i, false
}

// wideUTF8 is up to where a text is sound UTF-8, as far as passUTF8 goes: at least up to the last block that is whole, or to
// the last character in front of a fault.
func wideUTF8(b []byte) int {
	i := 0
	for i+32 <= len(b) {
		blocks := min((len(b)-i)/32, maxWide)
		n := passUTF8(&b[i], blocks)
		i += n
		for back := 1; back <= 3 && back <= i; back++ { // a character that is cut off is looked at again
			if c := b[i-back]; c >= 0xc0 {
				i -= back
				break
			} else if c < 0x80 {
				break
			}
		}
		if n < 32*blocks {
			break
		}
	}
	return i
}
