package normalize

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/jsonl"
)

// unglue takes apart a line that holds more or less than one record.
func (f *Normalizer) unglue(raw []byte) []piece {
	pieces, junk := f.parts(raw)
	whole, fix := 0, finding.Exact
	for _, p := range pieces {
		switch {
		case p.dead:
			fix = finding.SetAside
		case p.torn:
			fix = max(fix, finding.Recovered)
		default:
			whole++
			fix = max(fix, p.fix)
		}
	}
	switch {
	case whole == 0 && len(pieces) == 1:
		f.reportTorn(pieces[0])
	case whole == 1 && junk:
		f.report(BadJSON, 0, finding.SetAside, "a record with garbage around it: the client drops both")
	default:
		f.report(GluedRecords, 0, fix, fmt.Sprintf("%d records are on one line: the client drops all of them", len(pieces)))
	}
	return pieces
}

// reportTorn reports a line that holds at most a part of one record.
func (f *Normalizer) reportTorn(p piece) {
	if p.again {
		// Clients resume such a session with all of it; but one was seen to vanish from a client's list until the line was removed.
		fault := f.report(BadJSON, 0, finding.Exact, "the line is the beginning of the next record, whose writing was begun again: the client drops it, and nothing is lost with it")
		fault.Impact = finding.Shows
		return
	}
	if ofMerge(p.raw) && f.line.Terminated { // else what is appended would be lost with it
		f.report(BadJSON, 0, finding.SetAside, "the line is a mark of git, which it sets where two states of the file differ: no record is lost with it").Impact = finding.Notes
		return
	}
	fix := finding.SetAside
	what := "no record can be made of it"
	if p.torn {
		fix, what = finding.Recovered, "the part that was written can be kept"
	}
	if (!f.line.Terminated || jsonl.LooksTorn(f.line.Raw)) && f.atTail() {
		if f.opts.Live && !f.line.Terminated {
			return
		}
		f.report(TornTail, len(f.line.Raw), fix, "the last line was cut short: the client drops it; "+what)
		return
	}
	f.report(BadJSON, 0, fix, "the line is not a record: the client drops it; "+what)
}

// ofMerge says whether a line is one of the marks that git sets around what differs, where a merge could not be made.
func ofMerge(line []byte) bool {
	const length = 7
	line = bytes.TrimSuffix(line, []byte("\r"))
	if len(line) < length || !bytes.Contains([]byte("<=>|"), line[:1]) || bytes.Count(line[:length], line[:1]) != length {
		return false
	}
	return len(line) == length || line[length] == ' ' && line[0] != '='
}

// atTail says whether nothing but blank lines and NULs follow the line in hand.
func (f *Normalizer) atTail() bool {
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

const (
	// maxRest is how long the rest of a line may be, in bytes, to be tried as one record although another seems to begin in
	// it.
	maxRest = 64 << 10
	// maxInterleaved is how often hist tries, in one line, whether a record was written into another.
	maxInterleaved = 16
	// maxScans is how often the bytes of a line may be scanned, on average. Records that are glued or torn take two; what
	// begins thousands of records in one another takes as many, and is no session. From then on a record ends where the next
	// begins.
	maxScans = 16
)

// parts returns the records in raw, and whether there is garbage beside them that is not the start of a record. The time it
// takes is linear in the length of raw, however many pieces there are.
func (f *Normalizer) parts(raw []byte) (pieces []piece, junk bool) {
	raw = bytes.Clone(raw)
	starts := newStartFinder(raw, f.dec.Starts())
	tries, left := 0, maxScans*len(raw)
	for at := 0; len(bytes.TrimSpace(raw[at:])) > 0; {
		next := starts.behind(at)
		rest := raw[at:]
		if left < 0 && next >= 0 {
			rest = raw[at:next]
		}
		v := f.scanner.Scan(rest, f.spans)
		if left -= v.At; v.Fault == jsonl.Control || v.Fault == jsonl.NotUTF8 { // they don't end the scan
			left -= len(rest)
		}
		if v.Fault == jsonl.Trailing && v.Object {
			if p, ok := f.wholeRecord(rest[:v.At]); ok {
				pieces = append(pieces, p)
				at += v.At
				continue
			}
		}
		if next < 0 || v.Fault == jsonl.None || len(rest) <= maxRest {
			left -= len(rest)
			if p, ok := f.wholeRecord(rest); ok {
				return append(pieces, p), junk
			}
		}
		if next < 0 {
			p := f.fragment(rest, nil)
			return append(pieces, p), junk || !jsonl.LooksTorn(rest)
		}
		if tries++; tries <= maxInterleaved {
			outer := f.interleaved(rest, next-at)
			if outer == nil {
				outer = f.overtaken(rest, next-at)
			}
			if outer != nil {
				return append(pieces, outer...), junk
			}
		}
		head := raw[at:next]
		pieces = append(pieces, f.fragment(head, raw[next:]))
		junk = junk || !jsonl.LooksTorn(head)
		at = next
	}
	return pieces, junk
}

// startFinder finds where records begin in a line, going once from its start to its end.
type startFinder struct {
	raw    []byte
	starts [][]byte
	next   []int // for each start, where it was found last; the length of the line if there are no more
}

func newStartFinder(raw []byte, starts [][]byte) *startFinder {
	return &startFinder{raw, starts, make([]int, len(starts))}
}

// behind returns where the next record begins behind a place, -1 if none does. The places asked for must not go back.
func (s *startFinder) behind(at int) int {
	first := len(s.raw)
	for i, start := range s.starts {
		if s.next[i] <= at {
			n := bytes.Index(s.raw[at+1:], start)
			if n < 0 {
				n = len(s.raw)
			}
			s.next[i] = at + 1 + n
		}
		first = min(first, s.next[i])
	}
	if first == len(s.raw) {
		return -1
	}
	return first
}

// interleaved reads two records of which another writer has written one into the middle of the other.
func (f *Normalizer) interleaved(raw []byte, at int) []piece {
	v := f.scanner.Scan(raw[at:], f.spans)
	if v.Fault != jsonl.Trailing || !v.Object || !jsonl.LooksTorn(raw[:at]) {
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

// overtaken reads two records of which another writer has written one, with its newline, into the middle of the other: the rest of that
// is the next line, which is taken.
func (f *Normalizer) overtaken(raw []byte, at int) []piece {
	if !f.line.Terminated || f.line.Passed > 0 || !jsonl.LooksTorn(raw[:at]) {
		return nil
	}
	next := f.peekHeld()
	if next == nil || next.Passed > 0 || len(raw)+len(next.Raw) > maxJoinBytes || f.startsRecord(next.Raw) >= 0 {
		return nil
	}
	inner, ok := f.wholeRecord(bytes.TrimRight(raw[at:], " \t\r"))
	if !ok {
		return nil
	}
	outer, ok := f.wholeRecord(append(bytes.Clone(raw[:at]), next.Raw...))
	if !ok {
		return nil
	}
	outer.mended = true
	f.line.size += next.size
	f.rec.Size = f.line.size
	f.line.Raw = slices.Concat(f.line.Raw, newline, next.Raw)
	f.line.Terminated = next.Terminated
	f.ahead = f.ahead[1:]
	return []piece{outer, inner}
}

var newline = []byte{'\n'}

// fragment makes a piece of a record's torn start: closed, if nothing false is said by that, else dead bytes. rest is what
// follows on the same line, nil if nothing does. If the same record was written again there, or on the next line, nothing
// is lost with the fragment.
func (f *Normalizer) fragment(raw, rest []byte) piece {
	lineOfItsOwn := rest == nil
	if lineOfItsOwn {
		if next := f.peekHeld(); next != nil {
			rest = next.Raw
		}
	}
	if repeats(raw, rest) {
		whole := false
		if lineOfItsOwn && namesItself(raw) { // within a line that would be asked of every fragment
			_, whole = f.wholeRecord(rest)
		}
		return piece{raw: raw, dead: true, again: whole, rule: BadJSON}
	}
	closed := f.closeTorn(raw)
	if closed == nil {
		closed = f.shorten(raw, len(bytes.TrimSpace(rest)) == 0)
	}
	if closed != nil {
		return piece{raw: closed, torn: true, mended: true}
	}
	return piece{raw: raw, dead: true, rule: BadJSON}
}

func (f *Normalizer) peekHeld() *heldLine {
	f.line.hold()
	return f.peek(0)
}
