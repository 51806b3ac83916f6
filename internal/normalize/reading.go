package normalize

import (
	"bytes"
	"runtime"

	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// heldLine is a physical line whose bytes stay valid.
type heldLine struct {
	jsonl.Line
	size    int64    // bytes, newline included; of all lines if several were joined
	scanned *scanned // what was found in it ahead; nil if the line has not been scanned
}

// scanned is a line that was scanned ahead and, if it is one whole record, decoded.
type scanned = jsonl.Scanned[session.Record]

// whole says whether a line is one record as it stands.
func whole(v *jsonl.Verdict) bool { return v.Fault == jsonl.None && v.Object && v.Surrogate < 0 }

// decodeAhead returns what whoever scans ahead does with each line.
func (f *Normalizer) decodeAhead() jsonl.Maker[session.Record] {
	prepare := func(*session.Record) {}
	if p, ok := f.dec.(session.Preparer); ok && f.opts.Prepare {
		prepare = p.Prepare()
	}
	return func(line []byte, s *scanned) {
		if whole(&s.Verdict) {
			s.Made.Raw, s.Made.Spans = line, s.Spans
			f.dec.Decode(&s.Made)
			prepare(&s.Made)
		}
	}
}

// longSession is how many bytes of a session are read before scanning ahead begins: for less it is not worth starting.
const longSession = 512 << 10

// nextLine fills l with the next line of the file.
func (f *Normalizer) nextLine(l *heldLine) error {
	if len(f.ahead) > 0 {
		*l = f.ahead[0]
		f.ahead = f.ahead[1:]
		return nil
	}
	return f.readLine(l)
}

func (f *Normalizer) readLine(l *heldLine) (err error) {
	if f.readErr != nil {
		return f.readErr
	}
	if f.others == nil && f.opts.Scanners > 0 && f.offset-f.skipped >= longSession {
		f.others = jsonl.NewAhead(f.lines, f.scanner, f.opts.Scanners, f.decodeAhead)
	}
	if f.others != nil {
		l.scanned, err = f.others.Next(&l.Line)
	} else {
		l.Line, err = f.lines.Next()
		l.scanned = nil
	}
	if err != nil {
		f.readErr = err
		return err
	}
	l.size = int64(len(l.Raw)) + l.Passed
	if l.Terminated {
		l.size++
	}
	f.offset = l.Offset + l.size
	return nil
}

// Scanners is how many goroutines should scan ahead if so many processors may be used; 0 processors means all.
func Scanners(processors int) int {
	if processors == 0 {
		processors = runtime.GOMAXPROCS(0)
	}
	return min(processors, maxScanners)
}

// maxScanners is how many scanners keep the goroutine that runs the rules busy; more would only take memory.
const maxScanners = 8

// Skip hands the lines before line number until to do, without looking into them. It is for lines that are known to be one
// sound record each. It may stop earlier, and does nothing if lines have been read ahead. The error is what do returns.
func (f *Normalizer) Skip(until int64, do func(block []byte, lines int64) error) error {
	if f.others != nil || len(f.ahead) > 0 || len(f.queue) > 0 || !f.started || f.readErr != nil {
		return nil
	}
	return f.lines.Skip(until, func(block []byte, lines int64) error {
		f.offset += int64(len(block))
		f.skipped += int64(len(block))
		return do(block, lines)
	})
}

// Close stops scanning ahead. The Normalizer can't be used afterwards.
func (f *Normalizer) Close() {
	if f.others != nil {
		f.others.Close()
	}
	f.scanner.Done()
}

// hold makes the line's bytes survive the next read.
func (l *heldLine) hold() { l.Raw, l.scanned = bytes.Clone(l.Raw), nil }

// peek returns the i-th line ahead, nil at the end of the file.
func (f *Normalizer) peek(i int) *heldLine {
	for len(f.ahead) <= i {
		var line heldLine
		if f.readLine(&line) != nil {
			return nil
		}
		line.hold()
		f.ahead = append(f.ahead, line)
	}
	return &f.ahead[i]
}
