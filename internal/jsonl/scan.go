package jsonl

// A Span is a half-open byte range in a line. For strings it includes the
// quotes. The zero Span means absent.
type Span struct{ Start, End int }

// Of returns the bytes of the span in its line.
func (s Span) Of(line []byte) []byte { return line[s.Start:s.End] }

// A Fault says in what way a line is not one JSON value in UTF-8.
type Fault uint8

// The faults.
const (
	None      Fault = iota // one JSON value in UTF-8
	Blank                  // nothing but JSON white space
	Truncated              // the bytes end inside a value
	Trailing               // a complete value, then something else than white space
	Control                // an unescaped control character in a string, and no other grammar fault
	NotUTF8                // the grammar is right but the bytes are no UTF-8
	Syntax                 // anything else
)

var faultNames = [...]string{"none", "blank", "truncated", "trailing", "control", "not UTF-8", "syntax"}

// String is the fault in words.
func (f Fault) String() string {
	if int(f) < len(faultNames) {
		return faultNames[f]
	}
	return "unknown"
}

// A Verdict is what one scan found. All offsets are 0-based bytes in the line.
type Verdict struct {
	Fault Fault
	// At is where the fault is, 0 if there is none: the end of the line if it is
	// Truncated, the start of the rest if Trailing, else the offending byte.
	At int
	// Object: the top-level value is an object. It means something if Fault is
	// None, Control, NotUTF8 or Trailing.
	Object bool
	// Depth is the deepest nesting; an object in an object is 2, a scalar 0.
	Depth int
	// Surrogate is the offset of the first \uXXXX escape that is a surrogate
	// without its other half, -1 if there is none.
	Surrogate int
	// Duplicate is the offset of the first key that its object already has,
	// looked for in objects down to a nesting depth of 3; -1 if there is none.
	// Keys are compared decoded. DuplicateDepth is the depth of that object.
	Duplicate      int
	DuplicateDepth int
}

// duplicateDepth is the deepest object whose keys are compared, whatever is in it; those on the way to wanted values are compared
// down to wantedDepth.
const (
	duplicateDepth = 3
	wantedDepth    = 8
)

// A Scanner checks lines. It keeps its buffers between lines; it is not safe for
// concurrent use.
type Scanner struct {
	shape *Shape
	root  *node
	paths int

	verdict *Verdict // on the line in hand
	own     Verdict  // if nobody else holds it
	spans   []Span
	control int                    // first control character in a string, -1
	high    uint64                 // all words of strings or-ed: is a byte >= 0x80 among them?
	marks   [maxMarked / 64]uint64 // for each byte of the line, whether a text stops there: see mark
	marked  int                    // for how many bytes they are; 0: for none

	frames []frame // the watched containers by depth; 0 is outside the value
	keys   keySet
	kinds  kindStack // what skip is in, but for the innermost containers

	templates *templates
	cutter    cutter
}

// A frame is an open container whose keys are looked at.
type frame struct {
	node     *node // its place in the shape, nil if nothing below is wanted
	path     int   // the path that its span belongs to, or -1
	start    int   // offset of its first byte
	object   bool
	compared bool // its keys are
}

// NewScanner returns a scanner for the shape; nil wants nothing.
func NewScanner(shape *Shape) *Scanner {
	if shape == nil {
		shape = &Shape{root: &node{path: -1}}
	}
	s := &Scanner{
		shape:     shape,
		root:      shape.root,
		paths:     shape.paths,
		frames:    make([]frame, max(duplicateDepth, shape.depth)+1),
		templates: shape.learned(),
	}
	s.verdict = &s.own
	return s
}

// Done hands what the scanner has learned of its lines to the next one of its
// shape. The scanner can't be used afterwards. Who does not call it loses only
// time.
func (s *Scanner) Done() {
	if s.templates != nil {
		s.shape.keep(s.templates)
	}
	s.templates = nil
}

// ScanOne is NewScanner and Scan for one line.
func (s *Shape) ScanOne(line []byte, spans []Span) Verdict {
	scanner := NewScanner(s)
	defer scanner.Done()
	return scanner.Scan(line, spans)
}

// Scan checks one line, without its newline, and fills spans, which has one
// element per path of the shape. After a fault the spans found so far stay. A
// path that is hit twice has the last value.
func (s *Scanner) Scan(line []byte, spans []Span) Verdict {
	s.scan(line, spans, &s.own)
	return s.own
}

// scan is Scan with a place for the verdict. Passing on so large a value by value takes longer than a short line's keys.
func (s *Scanner) scan(line []byte, spans []Span, verdict *Verdict) {
	s.verdict, s.spans = verdict, spans[:s.paths]
	start := space(line, 0)
	s.begin()
	s.mark(line)
	if end := s.retrace(line, start); end >= 0 {
		s.verdict.Object = line[start] == '{'
		s.finish(line, end)
	} else {
		s.begin()
		s.mark(line)
		s.whole(line, start)
		s.learn(line, start)
	}
	s.release()
}

// learn remembers the way of the line that has just been scanned, if it is sound.
func (s *Scanner) learn(line []byte, start int) {
	if v := s.verdict; v.Fault != None || v.Surrogate >= 0 || v.Duplicate >= 0 || len(line) > longestTaught || s.templates.full() {
		return
	}
	if tokens, ok := s.tokens(line, start); ok {
		s.templates.learn(tokens, line)
	}
}

// begin forgets the line before.
func (s *Scanner) begin() {
	clear(s.spans)
	*s.verdict = Verdict{Surrogate: -1, Duplicate: -1}
	s.control = -1
	s.high = 0
}

// whole scans a line, the value of which starts at i, without help.
func (s *Scanner) whole(line []byte, i int) {
	s.keys.reset()
	if i == len(line) {
		s.verdict.Fault = Blank
		return
	}
	s.verdict.Object = line[i] == '{'
	if i = s.watch(line, i); i >= 0 {
		s.finish(line, i)
	}
}

// finish judges what is behind the value, which ends at i, and the faults that
// do not stop a scan.
func (s *Scanner) finish(line []byte, i int) {
	i = space(line, i)
	switch {
	case i < len(line):
		s.fail(Trailing, i)
	case s.control >= 0:
		s.fail(Control, s.control)
	case s.high&highs != 0:
		if bad := badUTF8(line); bad >= 0 {
			s.fail(NotUTF8, bad)
		}
	}
}

// fail notes a fault and returns -1, the position that ends a scan.
func (s *Scanner) fail(f Fault, at int) int {
	s.verdict.Fault, s.verdict.At = f, at
	return -1
}

// failAt is fail for a byte that should not be at i, or for a line that ends
// there.
func (s *Scanner) failAt(line []byte, i int) int {
	if i >= len(line) {
		return s.fail(Truncated, len(line))
	}
	return s.fail(Syntax, i)
}

// release lets go of what only an extraordinary line needs.
func (s *Scanner) release() {
	s.kinds.release()
	s.keys.release()
	s.marked = 0 // text may be called for another line
}

// space returns the first position from i on that is not JSON white space.
func space(line []byte, i int) int {
	for i < len(line) && line[i] <= ' ' {
		switch line[i] {
		case ' ', '\t', '\n', '\r':
			i++
		default:
			return i
		}
	}
	return i
}
