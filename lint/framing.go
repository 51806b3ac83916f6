package lint

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// maxJoin bounds what is tried for one record that may be broken over lines: so many lines, so many bytes.
const (
	maxJoinLines = 256
	maxJoinBytes = 8 << 20
)

// maxMend is the length in bytes above which a line that does not parse is not searched for records.
const maxMend = 256 << 20

// Framer turns the bytes of a session file into logical records. It mends what broke the framing: text encoding,
// padding, records glued together, torn or spread over lines. The same bytes always give the same records, so that
// a repair can read the file a second time and find each record at the Pos where lint saw it.
type Framer struct {
	opts    FrameOptions
	lines   *jsonl.Reader
	scanner *jsonl.Scanner
	dec     session.Decoder

	ahead   []heldLine // physical lines read in advance, oldest first
	readErr error      // what ended the lines, io.EOF included

	queue   []piece // the logical records of the line in hand
	verdict jsonl.Verdict
	whole   bool // the line in hand is one record, scanned already: verdict and spans are its own
	line    heldLine
	rec     session.Record
	spans   []jsonl.Span
	faults  []Finding

	started  bool
	encoding Encoding
	offset   int64
}

// FrameOptions are what a Framer needs to know beyond the bytes.
type FrameOptions struct {
	Decoder session.Decoder
	// Mend says whether a fault may be mended; nil allows all that is more than a note. A line that may not be
	// mended stays as it is, which makes it one dead record.
	Mend func(*Finding) bool
	// Live: somebody writes the file now, so a last line without its end is no damage.
	Live bool
}

// heldLine is a physical line whose bytes stay valid.
type heldLine struct {
	jsonl.Line
	size int64 // with its newline; of all lines, where several were joined
}

// piece is one logical record of a line.
type piece struct {
	raw    []byte
	rule   *Rule // the rule that makes it dead
	dead   bool
	torn   bool
	mended bool
	drop   bool // dead, and not to be kept
}

// NewFramer reads the session in r. It looks at the first bytes to tell UTF-16 from UTF-8.
func NewFramer(r io.Reader, opts FrameOptions) *Framer {
	enc, r := decodeText(r)
	return &Framer{
		opts: opts, dec: opts.Decoder, encoding: enc,
		lines:   jsonl.NewReader(r),
		scanner: jsonl.NewScanner(opts.Decoder.Shape()),
		spans:   make([]jsonl.Span, opts.Decoder.Paths()),
	}
}

// Encoding is how the file's bytes become text.
func (f *Framer) Encoding() Encoding { return f.encoding }

// Offset is how many bytes of text have been read, from the start of the uncompressed file.
func (f *Framer) Offset() int64 { return f.offset }

// Faults returns what was found in the lines read since the last call.
func (f *Framer) Faults() []Finding {
	out := f.faults
	f.faults = nil
	return out
}

// Next returns the next logical record, dead ones (session.Unreadable) too; it is valid until the next call.
// The error is io.EOF at the end, otherwise what the reader met.
func (f *Framer) Next() (*session.Record, error) {
	for {
		if rec := f.pop(); rec != nil {
			return rec, nil
		}
		line, err := f.nextLine()
		if err != nil {
			return nil, err
		}
		f.begin(line)
	}
}

func (f *Framer) nextLine() (heldLine, error) {
	if len(f.ahead) > 0 {
		l := f.ahead[0]
		f.ahead = f.ahead[1:]
		return l, nil
	}
	return f.readLine()
}

func (f *Framer) readLine() (heldLine, error) {
	if f.readErr != nil {
		return heldLine{}, f.readErr
	}
	line, err := f.lines.Next()
	if err != nil {
		f.readErr = err
		return heldLine{}, err
	}
	size := int64(len(line.Raw))
	if line.Terminated {
		size++
	}
	f.offset = line.Offset + size
	return heldLine{line, size}, nil
}

// hold makes the line's bytes survive the next read.
func (l *heldLine) hold() { l.Raw = bytes.Clone(l.Raw) }

// peek returns the i-th line ahead, nil at the end of the file.
func (f *Framer) peek(i int) *heldLine {
	for len(f.ahead) <= i {
		line, err := f.readLine()
		if err != nil {
			return nil
		}
		line.hold()
		f.ahead = append(f.ahead, line)
	}
	return &f.ahead[i]
}

// pop takes the next piece of the line in hand and makes a record of it.
func (f *Framer) pop() *session.Record {
	if len(f.queue) == 0 {
		return nil
	}
	p := f.queue[0]
	f.queue = f.queue[1:]
	rec := &f.rec
	rec.Pos.Part++
	rec.Raw, rec.Spans = p.raw, f.spans
	rec.Torn, rec.Mended, rec.Drop = p.torn, p.mended, p.drop
	rec.Open = !f.line.Terminated && len(f.queue) == 0
	if p.dead {
		f.unreadable()
		return rec
	}
	if f.whole {
		f.whole = false
	} else {
		f.verdict = f.scanner.Scan(p.raw, f.spans)
	}
	f.finish(f.verdict)
	return rec
}

// unreadable makes the record in hand one that says nothing.
func (f *Framer) unreadable() {
	clear(f.spans)
	f.rec = session.Record{
		Pos: f.rec.Pos, Offset: f.rec.Offset, Size: f.rec.Size, Raw: f.rec.Raw, Spans: f.spans, Original: f.rec.Original,
		Drop: f.rec.Drop, Open: f.rec.Open, Mended: f.rec.Mended, Kind: session.Unreadable,
		Blank: len(bytes.Trim(f.rec.Raw, "\x00 \t\r\n")) == 0,
	}
}

// finish decodes the record whose spans have just been scanned.
func (f *Framer) finish(v jsonl.Verdict) {
	f.rec.Blank, f.rec.Refused = false, false
	f.dec.Decode(&f.rec)
	if v.Depth > clientDepth {
		f.tooDeep(v)
	}
	if v.Duplicate >= 0 {
		f.duplicateKey(v)
	}
}

// begin cuts a physical line into its logical records and puts them into the queue.
func (f *Framer) begin(line heldLine) {
	f.line = line
	f.rec.Pos = session.Pos{Line: line.Number, Part: -1}
	f.rec.Offset, f.rec.Size = line.Offset, line.size
	f.rec.Original = line.Raw
	first := !f.started
	f.started = true
	raw := line.Raw
	if first {
		raw = f.stripBOM(raw)
	}
	if len(raw) > hugeLine {
		f.report(ruleHugeLine, 0, NoFix, fmt.Sprintf("this line is %d bytes long; clients load it slowly", len(raw)))
	}
	f.whole = false
	if v := f.scanner.Scan(raw, f.spans); v.Fault == jsonl.None && v.Object && v.Surrogate < 0 {
		f.verdict, f.whole = v, true
		if n := len(raw); raw[n-1] == '\r' {
			if f.allowed(f.report(ruleCRLF, n-1, Exact, "line ends with CR LF")) {
				raw = raw[:n-1]
			}
		}
		if !line.Terminated {
			f.missingNewline()
		}
		f.queue = append(f.queue[:0], piece{raw: raw, mended: len(raw) != len(line.Raw)})
		return
	}
	f.mendLine(raw)
}

// mendLine deals with a line that is not one whole record.
func (f *Framer) mendLine(raw []byte) {
	raw = bytes.Clone(raw) // what is made of it outlives the reader's buffer
	mark := len(f.faults)
	pieces := f.dissect(raw)
	if !f.mayMend(mark) {
		// Left alone, the line is what the client takes it for: nothing.
		pieces = []piece{{raw: f.line.Raw, dead: true}}
	} else if len(f.faults) > mark {
		for i := range pieces {
			pieces[i].drop = pieces[i].dead
			pieces[i].mended = true
		}
	}
	if n := len(pieces); n > 0 && !f.line.Terminated && !pieces[n-1].dead && !f.tornFault(mark) {
		f.missingNewline()
	}
	f.rec.Original = f.line.Raw
	f.queue = append(f.queue[:0], pieces...)
	if len(pieces) == 0 { // nothing is left of the line
		f.queue = append(f.queue, piece{raw: f.line.Raw, dead: true, drop: true})
	}
}

func (f *Framer) tornFault(mark int) bool {
	for _, fault := range f.faults[mark:] {
		if fault.Rule == ruleTornTail {
			return true
		}
	}
	return false
}

// mayMend says whether all mends of the line in hand are allowed.
func (f *Framer) mayMend(mark int) bool {
	for i := range f.faults[mark:] {
		if !f.allowed(&f.faults[mark+i]) {
			return false
		}
	}
	return true
}

func (f *Framer) allowed(fault *Finding) bool {
	if f.opts.Mend == nil {
		return fault.Impact != Notes
	}
	return f.opts.Mend(fault)
}

// report notes a fault in the line in hand; at counts bytes from the line's start.
func (f *Framer) report(rule *Rule, at int, fix Fix, message string) *Finding {
	f.faults = append(f.faults, Finding{
		Rule: rule, Impact: rule.Impact, Fix: fix, framing: true,
		Pos: session.Pos{Line: f.line.Number}, Offset: f.line.Offset + int64(at), Message: message,
	})
	return &f.faults[len(f.faults)-1]
}

func (f *Framer) missingNewline() {
	if f.opts.Live {
		return
	}
	f.report(ruleNoFinalNewline, len(f.line.Raw), Exact, "the last record lacks its newline: a client before 0.145 glues its next record to it")
}

// dissect finds the records in a line that is not simply one.
func (f *Framer) dissect(raw []byte) []piece {
	if len(raw) > maxMend {
		f.report(ruleBadJSON, 0, SetAside, "the line does not parse and is too long to be searched for records")
		return []piece{{raw: raw, dead: true, rule: ruleBadJSON}}
	}
	if bytes.IndexByte(raw, 0) >= 0 {
		stripped := f.stripNULs(raw)
		if stripped == nil {
			return nil
		}
		raw = stripped
	}
	v := f.scanner.Scan(raw, f.spans)
	switch {
	case v.Fault == jsonl.Blank:
		f.report(ruleBlankLine, 0, Exact, "blank line")
		return []piece{{raw: raw, dead: true}}
	case v.Fault == jsonl.None && !v.Object:
		f.report(ruleNotObject, 0, SetAside, "the line is JSON but no record: the client skips it")
		return []piece{{raw: raw, dead: true, rule: ruleNotObject}}
	}
	if p, ok := f.mendText(raw, v, true); ok {
		return []piece{p}
	}
	if v.Fault == jsonl.Truncated || v.Fault == jsonl.Control || v.Fault == jsonl.Syntax {
		if joined := f.join(raw); joined != nil {
			return []piece{{raw: joined, mended: true}}
		}
	}
	return f.unglue(raw)
}

// mendText mends what is wrong with the characters of one record. It reports only if the result is a whole record.
func (f *Framer) mendText(raw []byte, v jsonl.Verdict, report bool) (piece, bool) {
	type mend struct {
		rule *Rule
		at   int
		fix  Fix
		text string
	}
	var mends []mend
	out := raw
	if v.Fault == jsonl.NotUTF8 || v.Fault == jsonl.Control || v.Fault == jsonl.Syntax {
		if fixed, fix, at := mendUTF8(out); at >= 0 {
			out = fixed
			mends = append(mends, mend{ruleInvalidUTF8, at, fix, utf8Message(fix)})
			v = f.scanner.Scan(out, f.spans)
			if v.Fault == jsonl.Syntax { // they stand between the strings
				if dropped := dropInvalid(raw); f.scanner.Scan(dropped, f.spans).Fault == jsonl.None {
					out, v = dropped, f.scanner.Scan(dropped, f.spans)
				}
			}
		}
	}
	if v.Fault == jsonl.Control {
		mends = append(mends, mend{ruleRawControl, v.At, Exact, "a control character stands unescaped in a string: the client drops the record"})
		out = escapeControls(out)
		v = f.scanner.Scan(out, f.spans)
	}
	if v.Fault == jsonl.None && v.Surrogate >= 0 {
		mends = append(mends, mend{ruleLoneSurrogate, v.Surrogate, StandIn, "an escaped surrogate lacks its other half: the client drops the record"})
		out = mendSurrogates(out)
		v = f.scanner.Scan(out, f.spans)
	}
	if v.Fault != jsonl.None || !v.Object || v.Surrogate >= 0 {
		return piece{}, false
	}
	if report {
		for _, m := range mends {
			f.report(m.rule, m.at, m.fix, m.text)
		}
	}
	return piece{raw: out, mended: len(mends) > 0}, true
}

// wholeRecord says whether raw is, or can be mended to be, exactly one record of the agent.
func (f *Framer) wholeRecord(raw []byte) (piece, bool) {
	p, ok := f.mendText(raw, f.scanner.Scan(raw, f.spans), false)
	if !ok {
		return piece{}, false
	}
	f.scanner.Scan(p.raw, f.spans)
	probe := session.Record{Raw: p.raw, Spans: f.spans}
	return p, f.dec.Envelope(&probe)
}

// join tries to read a record that raw newlines broke over several lines, and takes those lines if it succeeds.
func (f *Framer) join(raw []byte) []byte {
	if !f.line.Terminated || f.startsRecord(raw) < 0 {
		return nil
	}
	f.line.hold()
	text := bytes.Clone(raw)
	plain := bytes.Clone(raw)
	size := f.line.size
	for i := 0; i < maxJoinLines; i++ {
		next := f.peek(i)
		if next == nil || len(text)+len(next.Raw) > maxJoinBytes || f.startsRecord(next.Raw) == 0 {
			return nil
		}
		text = append(append(text, '\n'), next.Raw...)
		plain = append(plain, next.Raw...)
		size += next.size
		for _, candidate := range [][]byte{escapeControls(text), plain} {
			if p, ok := f.wholeRecord(candidate); ok {
				f.report(ruleSplitRecord, len(raw), Exact, fmt.Sprintf("one record is broken over %d lines: the client drops all of them", i+2))
				f.line.size, f.rec.Size = size, size
				f.line.Terminated, f.line.Raw = next.Terminated, text
				f.ahead = f.ahead[i+1:]
				// What newlines are left stand between the tokens.
				return bytes.ReplaceAll(p.raw, []byte{'\n'}, []byte{' '})
			}
		}
		if !next.Terminated {
			return nil
		}
	}
	return nil
}

// startsRecord returns where in raw a record's first bytes stand: 0 at its start, -1 nowhere.
func (f *Framer) startsRecord(raw []byte) int {
	at := -1
	for _, s := range f.dec.Starts() {
		if i := bytes.Index(raw, s); i >= 0 && (at < 0 || i < at) {
			at = i
		}
	}
	return at
}

// unglue takes a line apart that holds more or less than one record.
func (f *Framer) unglue(raw []byte) []piece {
	pieces, junk := f.parts(raw)
	whole := 0
	for _, p := range pieces {
		if !p.dead && !p.torn {
			whole++
		}
	}
	switch {
	case whole == 0 && len(pieces) == 1:
		f.reportTorn(pieces[0])
	case whole == 1 && junk:
		f.report(ruleBadJSON, 0, SetAside, "a record with garbage around it: the client drops both")
	default:
		f.report(ruleGluedRecords, 0, Exact, fmt.Sprintf("%d records stand on one line: the client drops all of them", len(pieces)))
	}
	return pieces
}

// reportTorn reports a line of which at most a part of one record can be read.
func (f *Framer) reportTorn(p piece) {
	fix := SetAside
	what := "nothing of it can be read"
	if p.torn {
		fix, what = Recovered, "what was written can be closed"
	}
	if (!f.line.Terminated || looksTorn(f.line.Raw)) && f.atTail() {
		if f.opts.Live && !f.line.Terminated {
			return
		}
		f.report(ruleTornTail, len(f.line.Raw), fix, "the last line was cut short: the client drops it; "+what)
		return
	}
	f.report(ruleBadJSON, 0, fix, "the line is no record: the client drops it; "+what)
}

// atTail says whether nothing but blank lines and NULs follow the line in hand.
func (f *Framer) atTail() bool {
	if !f.line.Terminated {
		return true
	}
	f.line.hold()
	for i := 0; ; i++ {
		next := f.peek(i)
		if next == nil {
			return true
		}
		if len(bytes.Trim(next.Raw, "\x00 \t\r")) > 0 || i > maxJoinLines {
			return false
		}
	}
}

// parts returns the records in raw, and whether what stands beside them is garbage and not the start of a record.
func (f *Framer) parts(raw []byte) (pieces []piece, junk bool) {
	raw = bytes.Clone(raw)
	for len(bytes.TrimSpace(raw)) > 0 {
		v := f.scanner.Scan(raw, f.spans)
		if v.Fault == jsonl.Trailing && v.Object {
			if p, ok := f.wholeRecord(raw[:v.At]); ok {
				pieces = append(pieces, p)
				raw = raw[v.At:]
				continue
			}
		}
		if p, ok := f.wholeRecord(raw); ok {
			return append(pieces, p), junk
		}
		next := f.nextStart(raw)
		if next < 0 {
			p := f.fragment(raw, nil)
			return append(pieces, p), junk || !looksTorn(raw)
		}
		if outer := f.interleaved(raw, next); outer != nil {
			return append(pieces, outer...), junk
		}
		head := raw[:next]
		pieces = append(pieces, f.fragment(head, raw[next:]))
		junk = junk || !looksTorn(head)
		raw = raw[next:]
	}
	return pieces, junk
}

// nextStart returns where behind raw's first byte a record begins, -1 if nowhere.
func (f *Framer) nextStart(raw []byte) int {
	if len(raw) < 2 {
		return -1
	}
	if at := f.startsRecord(raw[1:]); at >= 0 {
		return at + 1
	}
	return -1
}

// interleaved reads a record that another writer's whole record was written into the middle of.
func (f *Framer) interleaved(raw []byte, at int) []piece {
	v := f.scanner.Scan(raw[at:], f.spans)
	if v.Fault != jsonl.Trailing || !v.Object || !looksTorn(raw[:at]) {
		return nil
	}
	inner, ok := f.wholeRecord(raw[at : at+v.At])
	if !ok {
		return nil
	}
	outer := append(bytes.Clone(raw[:at]), raw[at+v.At:]...)
	if o, ok := f.wholeRecord(outer); ok {
		o.mended = true
		return []piece{o, inner}
	}
	return nil
}

// fragment is a record's torn start, closed where that is honest, or dead bytes. What follows it on the same line
// or the next tells whether the same record was written again: then nothing is lost with it.
func (f *Framer) fragment(raw, rest []byte) piece {
	if rest == nil {
		if next := f.peekHeld(); next != nil {
			rest = next.Raw
		}
	}
	if !repeats(raw, rest) {
		if closed := f.closeTorn(raw); closed != nil {
			return piece{raw: closed, torn: true, mended: true}
		}
	}
	return piece{raw: raw, dead: true, rule: ruleBadJSON}
}

func (f *Framer) peekHeld() *heldLine {
	f.line.hold()
	return f.peek(0)
}

// Err is what ended the reading, nil at a clean end of the file.
func (f *Framer) Err() error {
	if f.readErr == nil || errors.Is(f.readErr, io.EOF) {
		return nil
	}
	return f.readErr
}
