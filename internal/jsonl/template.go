package jsonl

import "slices"

// The lines of a file are alike: most have the same keys as an earlier one, in the same order, and differ only in a few
// values. Templates are what has been learned of that, as a tree of stretches of text. Where a line goes the way of an
// earlier one, the text between two values is compared in one piece, and only the values are scanned.
//
// What a Scanner says does not depend on what it has learned: a line that leaves the known ways is scanned from its
// beginning, as if there were no templates.
type templates struct {
	ways      []*stretch // how lines begin
	stretches int
}

const (
	mostStretches = 4096    // the most that are learned
	mostWays      = 32      // the most that are learned for one place: if there are more, they are names of things and not keys
	mostTokens    = 192     // the most that a line may have to be learned
	templateDepth = 6       // the deepest container that is looked into
	longestTaught = 1 << 20 // the most bytes that a line may have to be learned: longer ones are few, and cutting one takes as long as scanning it
)

// A stretch is text that lines have in common, and the value that follows.
type stretch struct {
	word, mask [2]uint64 // the first bytes of text
	text       string
	marks      []mark // spans that begin or end in it
	tokens     []int  // where in text those of the line end
	next       []*stretch
	hole       hole
	path       int // whose span is the value, or -1
	depth      int // how many containers are open there; for the last stretch of a line, how deep the line is
}

// A hole is what follows a stretch.
type hole uint8

const (
	branch     hole = iota // no value: here the ways of lines separate
	textHole               // the rest of a string, whose quote is the end of the stretch
	insideHole             // the rest of an array or an object
	scalarHole             // a number or a literal
	lineEnd
)

// A mark is where a span begins and ends, as offsets in a stretch; -1 for an end that is in another stretch.
type mark struct{ path, from, to int }

// shift is the same mark in the part of the stretch behind at.
func (m mark) shift(at int) mark {
	if m.from >= 0 {
		m.from -= at
	}
	if m.to >= 0 {
		m.to -= at
	}
	return m
}

// full says that nothing more is learned.
func (t *templates) full() bool { return t.stretches >= mostStretches }

// retrace scans the value that starts at i and returns its end, if the value goes a known way. Else it returns -1, and the
// line must be scanned from its beginning.
func (s *Scanner) retrace(line []byte, i int) int {
	ways := s.templates.ways
	for {
		var w *stretch
		if len(ways) == 1 && i+16 <= len(line) { // as nearly always
			if w = ways[0]; !w.begins(load(line, i), load(line, i+8)) || !w.goesOn(line, i) {
				return -1
			}
		} else if w = take(ways, line, i); w == nil {
			return -1
		}
		for k := range w.marks {
			m := &w.marks[k]
			span := &s.spans[m.path]
			if m.from >= 0 {
				span.Start = i + m.from
			}
			if m.to >= 0 {
				span.End = i + m.to
			}
		}
		i += len(w.text)
		start := i
		switch w.hole {
		case textHole:
			start--
			i = s.text(line, i)
		case insideHole:
			start--
			i = s.skip(line, start, w.depth)
		case scalarHole:
			if i = count(line, i); i < 0 && start < len(line) {
				i = s.scalar(line, start)
			}
		case lineEnd:
			s.verdict.Depth = max(s.verdict.Depth, w.depth)
			return i
		}
		if i < 0 {
			return -1
		}
		if w.path >= 0 {
			s.spans[w.path] = Span{start, i}
		}
		ways = w.next
	}
}

// count returns where the count at i ends, -1 if it is another number, none at all, or near the end of the line.
func count(line []byte, i int) int {
	if i+8 > len(line) {
		return -1
	}
	w := load(line, i)
	n := digits(w)
	if n == 0 || n > 1 && byte(w) == '0' {
		return -1
	}
	end := i + n
	for n == 8 && end < len(line) && digit(line[end]) {
		end++
	}
	if end < len(line) {
		if c := line[end]; c != '.' && c|0x20 != 'e' {
			return end
		}
	}
	return -1
}

// take returns the way that a line takes at i, nil if it is not known.
func take(ways []*stretch, line []byte, i int) *stretch {
	if i+16 > len(line) {
		for _, w := range ways {
			if w.fits(line, i) {
				return w
			}
		}
		return nil
	}
	w0, w1 := load(line, i), load(line, i+8)
	for k, w := range ways {
		if !w.begins(w0, w1) || !w.goesOn(line, i) {
			continue
		}
		if k > 0 && w.firm() && ways[k-1].firm() {
			ways[k-1], ways[k] = w, ways[k-1] // so that what comes often is tried first
		}
		return w
	}
	return nil
}

// begins says whether 16 bytes of a line are those that a stretch begins with, as far as it has so many.
func (w *stretch) begins(w0, w1 uint64) bool {
	return (w0^w.word[0])&w.mask[0]|(w1^w.word[1])&w.mask[1] == 0
}

// goesOn says whether a line goes on as a stretch does, behind the first 16 bytes.
func (w *stretch) goesOn(line []byte, i int) bool {
	n := len(w.text)
	return n <= 16 || i+n <= len(line) && string(line[i+16:i+n]) == w.text[16:]
}

func (w *stretch) fits(line []byte, i int) bool {
	return i+len(w.text) <= len(line) && string(line[i:i+len(w.text)]) == w.text
}

// firm says that a stretch does not begin with a hole. Such stretches are tried first, because any known text would fit a
// hole for strings, too.
func (w *stretch) firm() bool { return w.hole == branch || len(w.tokens) > 1 }

// behind says whether a stretch is tried after another, known one. A stretch without text, as a number has, comes last.
func (w *stretch) behind(o *stretch) bool {
	return w.text == "" || o.text != "" && !w.firm() || o.text != "" && o.firm()
}

// learn adds the way of a line, cut into tokens, if there is room for it.
func (t *templates) learn(tokens []token, line []byte) {
	ways := &t.ways
	for len(tokens) > 0 {
		w, n := follow(*ways, tokens, line)
		if first := &tokens[0]; w == nil && len(*ways) >= mostWays && first.name {
			first.loose(line)
			w, n = follow(*ways, tokens, line)
		}
		if w == nil {
			if !t.full() && (len(*ways) < mostWays || tokens[0].hole != branch) {
				t.add(ways, tokens, line)
			}
			return
		}
		if n < len(w.tokens) {
			w.split(n)
			t.stretches++
		}
		tokens, ways = tokens[n:], &w.next
	}
}

// follow finds the way that begins with the first of the tokens, and how many of its tokens they are.
func follow(ways []*stretch, tokens []token, line []byte) (w *stretch, n int) {
	for _, w = range ways {
		from := 0
		for n = 0; n < len(w.tokens) && n < len(tokens); n++ {
			end := w.tokens[n]
			tok, hole := &tokens[n], branch
			if n == len(w.tokens)-1 {
				hole = w.hole
			}
			if tok.hole != hole || string(line[tok.start:tok.end]) != w.text[from:end] {
				break
			}
			from = end
		}
		if n > 0 {
			return w, n
		}
	}
	return nil, 0
}

// split makes the first n tokens of a stretch one of their own.
func (w *stretch) split(n int) {
	at := w.tokens[n-1]
	rest := &stretch{text: w.text[at:], next: w.next, hole: w.hole, path: w.path, depth: w.depth}
	for _, end := range w.tokens[n:] {
		rest.tokens = append(rest.tokens, end-at)
	}
	marks := w.marks
	w.marks = nil
	for _, m := range marks {
		if max(m.from, m.to) <= at { // no mark lies across the split, because stretches are split between tokens
			w.marks = append(w.marks, m)
		} else {
			rest.marks = append(rest.marks, m.shift(at))
		}
	}
	rest.begin()
	w.text, w.tokens, w.next, w.hole, w.path = w.text[:at], w.tokens[:n:n], []*stretch{rest}, branch, -1
	w.begin()
}

// begin sets word and mask from the first bytes of the text.
func (w *stretch) begin() {
	w.word, w.mask = [2]uint64{}, [2]uint64{}
	for k := range min(len(w.text), 16) {
		w.word[k/8] |= uint64(w.text[k]) << (k % 8 * 8)
		w.mask[k/8] |= 0xff << (k % 8 * 8)
	}
}

// add adds the way of all tokens behind those that are known.
func (t *templates) add(ways *[]*stretch, tokens []token, line []byte) {
	for len(tokens) > 0 {
		w := &stretch{path: -1}
		from, at := tokens[0].start, 0
		for w.hole == branch && len(tokens) > 0 {
			tok := &tokens[0]
			w.marks = tok.marks(w.marks, at)
			at = tok.end - from
			w.tokens = append(w.tokens, at)
			w.hole, w.depth = tok.hole, tok.depth
			if w.hole != branch {
				w.path = tok.path
			}
			tokens = tokens[1:]
		}
		w.text = string(line[from : from+at])
		w.begin()
		place := 0
		for place < len(*ways) && w.behind((*ways)[place]) {
			place++
		}
		*ways = slices.Insert(*ways, place, w)
		t.stretches++
		ways = &w.next
	}
}
