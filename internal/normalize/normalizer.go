package normalize

import (
	"bytes"
	"fmt"
	"io"
	"slices"

	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// How many lines, and how many bytes, are tried for one record that may be broken over several lines.
const (
	maxJoinLines = 256
	maxJoinBytes = 8 << 20
)

// maxMend is the length in bytes above which a line that does not parse is not searched for records, because the search
// takes several times the line's length in memory. A client that migrates a session drops longer lines, too.
const maxMend = 16 << 20

// maxMendText is the length in bytes up to which damaged characters are mended in a line that is otherwise one record.
const maxMendText = 64 << 20

// Normalizer turns the bytes of a session file into logical records. It mends what broke the framing: text encoding,
// padding, records glued together, torn or spread over lines. The same bytes always give the same records, so that
// a repair can read the file a second time and find each record at the Pos where lint saw it.
type Normalizer struct {
	opts    Options
	lines   *jsonl.Reader
	others  *jsonl.Ahead[session.Record] // reads, scans and decodes ahead, with other goroutines if there are several processors; nil at the beginning of a file
	scanner *jsonl.Scanner
	dec     session.Decoder
	when    []byte // the time of the newest record that has one

	maxDepth int                   // how many brackets deep the agent's client reads; 0: any depth
	isName   func(key []byte) bool // whether a member holds a name or an id

	ahead   []heldLine // physical lines read in advance, oldest first
	readErr error      // what ended the lines, io.EOF included

	queue   []piece // the logical records of the line in hand that have not been returned yet
	pieces  []piece // memory for a queue of one
	line    heldLine
	rec     *session.Record // the one in hand: own, or that of a line that was read ahead
	own     session.Record
	spans   []jsonl.Span
	verdict jsonl.Verdict // on the one in hand, if that is own
	faults  []finding.Finding

	turns    session.Turns
	started  bool
	encoding Encoding
	offset   int64
	skipped  int64 // bytes of that which were copied unseen (Skip)
}

// Options are what a Normalizer needs to know beyond the bytes.
type Options struct {
	Decoder session.Decoder
	// Mend says whether a fault may be mended; nil allows every fault that is more than a note. A line that may not be
	// mended stays as it is and is one unreadable record.
	Mend func(*finding.Finding) bool
	// Live: somebody is writing the file, so a last line without its end is not damage.
	Live bool
	// Inside: the text does not begin at the start of its file, so its first bytes don't tell the file's encoding.
	Inside bool
	// Scanners is how many goroutines scan ahead in a long session, the one that calls Next among them; 0: none. If there
	// are any, the Normalizer must be closed.
	Scanners int
	// Prepare: the records are for rules, which want what a Preparer makes of them.
	Prepare bool
}

// piece is one logical record of a line.
type piece struct {
	raw    []byte
	rule   *finding.Rule // the rule that makes it dead
	dead   bool
	again  bool // dead, but the next record begins with all of it
	torn   bool
	mended bool
	holed  int         // how many NULs were taken out of its line
	drop   bool        // dead, and a repair sets it aside
	fix    finding.Fix // how its characters were mended; zero if they needed no mend
}

// New reads the session in r. It looks at the first bytes to tell UTF-16 from UTF-8.
func New(r io.Reader, opts Options) *Normalizer {
	enc := UTF8
	if !opts.Inside {
		enc, r = Text(r)
	}
	f := &Normalizer{
		opts: opts, started: opts.Inside, dec: opts.Decoder, encoding: enc,
		lines:    jsonl.NewReader(r),
		scanner:  jsonl.NewScanner(opts.Decoder.Shape()),
		spans:    make([]jsonl.Span, opts.Decoder.Paths()),
		maxDepth: opts.Decoder.MaxDepth(), isName: opts.Decoder.IsName,
	}
	f.rec = &f.own
	return f
}

// Encoding is how the file's bytes become text.
func (f *Normalizer) Encoding() Encoding { return f.encoding }

// Offset is how many bytes of text have been read, from the start of the uncompressed file.
func (f *Normalizer) Offset() int64 { return f.offset }

// Faults returns what was found in the lines read since the last call.
func (f *Normalizer) Faults() []finding.Finding {
	out := f.faults
	f.faults = nil
	return out
}

// Mark tells the Normalizer of a record that is not in the file, at the place where it belongs: it may begin a turn.
func (f *Normalizer) Mark(rec *session.Record) { f.turns.See(rec) }

// TurnsWritten says whether the client has written where a turn begins, in what has been read so far.
func (f *Normalizer) TurnsWritten() bool { return f.turns.Written() }

// Next returns the next logical record, also if it can't be read (session.Unreadable). It is valid until the next call. The
// error is io.EOF at the end, otherwise what kept the reader from going on.
func (f *Normalizer) Next() (*session.Record, error) {
	for {
		if rec := f.pop(); rec != nil {
			return rec, nil
		}
		if err := f.nextLine(&f.line); err != nil {
			return nil, err
		}
		if f.begin() {
			return f.rec, nil
		}
	}
}

// pop takes the next piece of the line in hand and makes a record of it.
func (f *Normalizer) pop() *session.Record {
	if len(f.queue) == 0 {
		return nil
	}
	p := f.queue[0]
	f.queue = f.queue[1:]
	rec := f.rec
	rec.Pos.Part++
	rec.Raw, rec.Spans = p.raw, f.spans
	rec.Torn, rec.Mended, rec.Drop, rec.Holed = p.torn, p.mended, p.drop, p.holed
	rec.Open = !f.line.Terminated && len(f.queue) == 0
	if p.dead {
		f.unreadable()
		return rec
	}
	f.verdict = f.scanner.Scan(p.raw, f.spans)
	f.dec.Decode(rec)
	f.finish(&f.verdict)
	return rec
}

// unreadable makes the record in hand one that can't be read.
func (f *Normalizer) unreadable() {
	clear(f.spans)
	*f.rec = session.Record{
		Pos: f.rec.Pos, Offset: f.rec.Offset, Size: f.rec.Size, Raw: f.rec.Raw, Spans: f.spans, Original: f.rec.Original,
		Passed: f.rec.Passed, Drop: f.rec.Drop, Open: f.rec.Open, Mended: f.rec.Mended, Kind: session.Unreadable,
		Blank: f.rec.Nothing() || ofMerge(f.rec.Raw),
	}
	f.rec.Zeros = f.rec.Blank && bytes.Count(f.rec.Raw, []byte{0}) >= minZeros
}

// finish is done with each record that has just been decoded; v is the verdict on it.
func (f *Normalizer) finish(v *jsonl.Verdict) {
	f.rec.Blank, f.rec.Zeros, f.rec.Refused, f.rec.Written = false, false, false, nil
	if v.Duplicate < 0 {
		v.Duplicate = f.dec.Doubled(f.rec)
	}
	if v.Duplicate >= 0 {
		f.duplicateKey(v)
	}
	f.turns.See(f.rec)
	if v.Depth > f.maxDepth && f.maxDepth > 0 {
		f.tooDeep(v)
	}
}

// begin looks at the line in hand. Nearly every line is one sound record: then begin makes it the record in hand and returns
// true. Otherwise it queues the line's logical records.
func (f *Normalizer) begin() (done bool) {
	line := &f.line
	first := !f.started
	f.started = true
	raw := line.Raw
	if first {
		raw = f.stripStart(raw)
	}
	if len(raw) > hugeLine {
		f.report(HugeLine, 0, finding.NoFix, fmt.Sprintf("this line is %d bytes long; clients load it slowly", len(raw)))
	}
	if line.Passed > 0 {
		fault := f.report(HugeLine, 0, finding.NoFix, fmt.Sprintf("this line is %d bytes long: hist reads lines of up to %d bytes, so this one counts as unreadable", line.size, jsonl.MaxLine))
		fault.Impact = finding.Loses
		f.take(&f.own)
		f.pieces = append(f.pieces[:0], piece{raw: raw, dead: true})
		f.queue = f.pieces
		return false
	}
	v := f.read(raw)
	if !whole(v) {
		f.mendLine(raw)
		return false
	}
	rec := f.rec
	if n := len(raw); raw[n-1] == '\r' {
		if f.allowed(f.report(CRLF, n-1, finding.Exact, "line ends with CR LF")) {
			rec.Raw, rec.Mended = raw[:n-1], true
			f.dec.Decode(rec)
		}
	}
	if !line.Terminated {
		f.missingNewline()
	}
	rec.Pos.Part = 0
	v = f.respell(v)
	v = f.modernize(v)
	if when := f.dec.When(f.rec); len(when) > 0 {
		f.when = append(f.when[:0], when...)
	}
	f.finish(v)
	return true
}

// read scans the line in hand, whose text is raw. If it is one whole record, that becomes the record in hand. A line that was
// read ahead, and has not changed since, is not read again.
func (f *Normalizer) read(raw []byte) *jsonl.Verdict {
	if s := f.line.scanned; s != nil && len(raw) == len(f.line.Raw) {
		if whole(&s.Verdict) {
			f.take(&s.Made)
		} else {
			f.take(&f.own) // the other is gone when lines behind this one are looked at
		}
		return &s.Verdict
	}
	f.take(&f.own)
	f.rec.Raw, f.rec.Spans, f.rec.Mended = raw, f.spans, len(raw) != len(f.line.Raw)
	f.verdict = f.scanner.Scan(raw, f.spans)
	if whole(&f.verdict) {
		f.dec.Decode(f.rec)
	}
	return &f.verdict
}

// take makes a record the one in hand: the line's as it stands, or the first of its pieces.
func (f *Normalizer) take(rec *session.Record) {
	line := &f.line
	f.rec = rec
	rec.Pos = session.Pos{Line: line.Number, Part: -1}
	rec.Offset, rec.Size, rec.Original, rec.Passed = line.Offset, line.size, line.Raw, line.Passed
	rec.Torn, rec.Mended, rec.Drop, rec.Holed, rec.Open = false, false, false, 0, !line.Terminated
}

// mendLine queues the records of a line that is not simply one whole record.
func (f *Normalizer) mendLine(raw []byte) {
	if len(raw) <= maxMend {
		raw = bytes.Clone(raw) // what is made of it outlives the reader's buffer
	}
	mark, start := len(f.faults), len(f.line.Raw)-len(raw)
	pieces := f.dissect(raw)
	if !f.mayMend(mark) {
		// A line that is left alone is what the client takes it for: no record. What the file's encoding puts in front of it goes.
		pieces = []piece{{raw: f.line.Raw[min(start, len(f.line.Raw)):], dead: true, mended: start > 0}}
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
	if len(pieces) == 0 { // nothing is left of the line
		pieces = append(pieces, piece{raw: f.line.Raw, dead: true, drop: true})
	}
	f.queue = pieces
}

func (f *Normalizer) tornFault(mark int) bool {
	return slices.ContainsFunc(f.faults[mark:], func(fault finding.Finding) bool { return fault.Rule == TornTail })
}

// mayMend says whether all mends of the line in hand are allowed.
func (f *Normalizer) mayMend(mark int) bool {
	for i := range f.faults[mark:] {
		if !f.allowed(&f.faults[mark+i]) {
			return false
		}
	}
	return true
}

func (f *Normalizer) allowed(fault *finding.Finding) bool {
	if f.opts.Mend == nil {
		return fault.Impact != finding.Notes
	}
	return f.opts.Mend(fault)
}

// report notes a fault in the line in hand; at counts bytes from the line's start.
func (f *Normalizer) report(rule *finding.Rule, at int, fix finding.Fix, message string) *finding.Finding {
	f.faults = append(f.faults, finding.Finding{
		Rule: rule, Impact: rule.Impact, Fix: fix, Framing: true,
		Pos: session.Pos{Line: f.line.Number}, Offset: f.line.Offset + int64(at), Message: message,
		On: finding.Ref{Pos: session.Pos{Line: f.line.Number}, Offset: f.line.Offset, Size: int64(len(f.line.Raw)) + 1},
	})
	return &f.faults[len(f.faults)-1]
}

func (f *Normalizer) missingNewline() {
	if f.opts.Live {
		return
	}
	f.report(NoFinalNewline, len(f.line.Raw), finding.Exact, "the last record has no newline")
}
