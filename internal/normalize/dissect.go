package normalize

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// dissect finds the records in a line that is not simply one.
func (f *Normalizer) dissect(raw []byte) []piece {
	if len(raw) > maxMend && len(bytes.TrimLeft(raw, " \t\r")) > 0 {
		if p, ok := f.mendLongText(raw); ok {
			return []piece{p}
		}
		f.report(BadJSON, 0, finding.SetAside, "the line does not parse and is too long to be searched for records")
		return []piece{{raw: raw, dead: true, rule: BadJSON}}
	}
	if bytes.IndexByte(raw, 0) >= 0 {
		return f.dissectNULs(raw)
	}
	return f.dissectText(raw)
}

// dissectText finds the records in a line without NULs.
func (f *Normalizer) dissectText(raw []byte) []piece {
	v := f.scanner.Scan(raw, f.spans)
	switch {
	case v.Fault == jsonl.Blank:
		f.report(BlankLine, 0, finding.Exact, "blank line")
		return []piece{{raw: raw, dead: true}}
	case v.Fault == jsonl.None && !v.Object:
		f.report(NotObject, 0, finding.SetAside, "the line is JSON but not a record: the client skips it")
		return []piece{{raw: raw, dead: true, rule: NotObject}}
	}
	if p, ok := f.mendText(raw, v, true); ok {
		return []piece{p}
	}
	if laidOut(raw) {
		if record := f.gather(raw); record != nil {
			return []piece{{raw: record, mended: true}}
		}
	}
	if v.Fault == jsonl.Truncated || v.Fault == jsonl.Control || v.Fault == jsonl.Syntax {
		if joined := f.join(raw); joined != nil {
			return []piece{{raw: joined, mended: true}}
		}
	}
	return f.unglue(raw)
}

// mendLongText mends the characters of a long line that is otherwise one record: that takes a few times its length.
func (f *Normalizer) mendLongText(raw []byte) (piece, bool) {
	if len(raw) > maxMendText || manyControls(raw) {
		return piece{}, false
	}
	v := f.scanner.Scan(raw, f.spans)
	if !v.Object || v.Fault != jsonl.None && v.Fault != jsonl.Control {
		return piece{}, false
	}
	return f.mendText(raw, v, true)
}

// manyControls says whether a text has so many control characters that it would grow far when they are escaped.
func manyControls(raw []byte) bool {
	most := len(raw) / 64
	for _, c := range raw {
		if c < ' ' {
			if most--; most < 0 {
				return true
			}
		}
	}
	return false
}

// mendText mends what is wrong with the characters of one record. It reports only if the result is a whole record.
func (f *Normalizer) mendText(raw []byte, v jsonl.Verdict, report bool) (piece, bool) {
	type mend struct {
		rule *finding.Rule
		at   int
		fix  finding.Fix
		text string
	}
	var mends []mend
	out := raw
	if v.Fault == jsonl.NotUTF8 || v.Fault == jsonl.Control || v.Fault == jsonl.Syntax {
		if fixed, fix, at := f.mendUTF8(out); at >= 0 {
			out = fixed
			mends = append(mends, mend{InvalidUTF8, at, fix, utf8Message(fix)})
			v = f.scanner.Scan(out, f.spans)
			if v.Fault == jsonl.Syntax { // they stand between the strings
				if dropped := dropInvalid(raw); f.scanner.Scan(dropped, f.spans).Fault == jsonl.None {
					out, v = dropped, f.scanner.Scan(dropped, f.spans)
				}
			}
		}
	}
	if v.Fault == jsonl.Control {
		mends = append(mends, mend{RawControl, v.At, finding.Exact, "a string holds an unescaped control character: the client drops the record"})
		out = escapeControls(out)
		v = f.scanner.Scan(out, f.spans)
	}
	if v.Fault == jsonl.None && v.Surrogate >= 0 {
		mends = append(mends, mend{LoneSurrogate, v.Surrogate, finding.StandIn, "an escaped surrogate is missing its other half: the client drops the record"})
		out = mendSurrogates(out)
		v = f.scanner.Scan(out, f.spans)
	}
	if v.Fault != jsonl.None || !v.Object || v.Surrogate >= 0 {
		return piece{}, false
	}
	p := piece{raw: out, mended: len(mends) > 0}
	for _, m := range mends {
		p.fix = max(p.fix, m.fix)
		if report {
			f.report(m.rule, m.at, m.fix, m.text)
		}
	}
	return p, true
}

// wholeRecord says whether raw is, or can be mended to be, exactly one record of the agent.
func (f *Normalizer) wholeRecord(raw []byte) (piece, bool) {
	p, ok := f.mendText(raw, f.scanner.Scan(raw, f.spans), false)
	if !ok {
		return piece{}, false
	}
	f.scanner.Scan(p.raw, f.spans)
	probe := session.Record{Raw: p.raw, Spans: f.spans}
	return p, f.dec.Envelope(&probe)
}

// join tries to read a record that raw newlines broke over several lines, and takes those lines if it succeeds.
func (f *Normalizer) join(raw []byte) []byte {
	if !f.line.Terminated || f.startsRecord(raw) < 0 {
		return nil
	}
	f.line.hold()
	text := bytes.Clone(raw)
	plain := bytes.Clone(raw)
	size := f.line.size
	for i := 0; i < maxJoinLines; i++ {
		next := f.peek(i)
		if next == nil || next.Passed > 0 || len(text)+len(next.Raw) > maxJoinBytes || f.startsRecord(next.Raw) >= 0 {
			return nil
		}
		text = append(append(text, '\n'), next.Raw...)
		plain = append(plain, next.Raw...)
		size += next.size
		if end := bytes.TrimRight(next.Raw, " \t\r"); len(end) == 0 || end[len(end)-1] != '}' {
			if !next.Terminated {
				return nil
			}
			continue
		}
		for _, candidate := range [][]byte{escapeControls(wholeWords(text)), plain} {
			if p, ok := f.wholeRecord(candidate); ok {
				f.report(SplitRecord, len(raw), max(finding.Exact, p.fix), fmt.Sprintf("one record is broken over %d lines: the client drops all of them", i+2))
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

// minWord is how long a string of the letters of ids, times and encoded bytes is, in bytes, that is no text of somebody's.
const minWord = 16

// wholeWords takes the newlines out of text that break the name of a member, what says of which kind a value is, or that one
// which breaks a string of one word with a digit in it: nobody has written them there. Those in other strings may have been in
// the text, such as those of a list of names, or behind a hash that a command printed.
func wholeWords(text []byte) []byte {
	out := make([]byte, 0, len(text))
	var name []byte
	for i := 0; i < len(text); {
		if text[i] != '"' {
			out = append(out, text[i])
			i++
			continue
		}
		end := i + 1
		for end < len(text) && text[end] != '"' {
			if text[end] == '\\' {
				end++
			}
			end++
		}
		end = min(end+1, len(text))
		whole := bytes.ReplaceAll(text[i:end], []byte{'\n'}, nil)
		behind := bytes.TrimLeft(text[end:], " \t\r\n")
		isName := len(behind) > 0 && behind[0] == ':'
		if isName || string(name) == `"type"` || string(name) == `"role"` || isBrokenWord(text[i:end]) {
			out = append(out, whole...)
		} else {
			out = append(out, text[i:end]...)
		}
		if name = nil; isName {
			name = whole
		}
		i = end
	}
	return out
}

// isBrokenWord says whether a string, in its quotes, is an id, a time or encoded bytes with a newline inside.
func isBrokenWord(quoted []byte) bool {
	front, back, broken := bytes.Cut(bytes.Trim(quoted, `"`), []byte{'\n'})
	if !broken || len(front) == 0 || len(back) == 0 || len(front)+len(back) < minWord {
		return false
	}
	word := string(front) + string(back)
	if _, err := time.Parse(time.RFC3339, word); err == nil {
		return true
	}
	return strings.ContainsAny(word, "0123456789") && !strings.ContainsFunc(word, func(c rune) bool {
		return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.ContainsRune("_+/=-", c))
	})
}

// startsRecord returns where in raw a record's first bytes stand: 0 at its start, -1 nowhere.
func (f *Normalizer) startsRecord(raw []byte) int {
	at := -1
	for _, s := range f.dec.Starts() {
		if i := bytes.Index(raw, s); i >= 0 && (at < 0 || i < at) {
			at = i
		}
	}
	return at
}

// unglue takes a line apart that holds more or less than one record.
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

// reportTorn reports a line of which at most a part of one record can be read.
func (f *Normalizer) reportTorn(p piece) {
	fix := finding.SetAside
	what := "none of it can be read"
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
	// maxRest is how long what is left of a line may be, in bytes, to be mended as a whole although another record
	// begins in it.
	maxRest = 64 << 10
	// maxInterleaved is how often in a line it is tried whether a record was written into another.
	maxInterleaved = 16
)

// parts returns the records in raw, and whether what stands beside them is garbage and not the start of a record. Each
// piece takes the time of its own length, however many there are.
func (f *Normalizer) parts(raw []byte) (pieces []piece, junk bool) {
	raw = bytes.Clone(raw)
	starts := newStartFinder(raw, f.dec.Starts())
	tries := 0
	for at := 0; len(bytes.TrimSpace(raw[at:])) > 0; {
		rest := raw[at:]
		v := f.scanner.Scan(rest, f.spans)
		if v.Fault == jsonl.Trailing && v.Object {
			if p, ok := f.wholeRecord(rest[:v.At]); ok {
				pieces = append(pieces, p)
				at += v.At
				continue
			}
		}
		next := starts.behind(at)
		if next < 0 || v.Fault == jsonl.None || len(rest) <= maxRest {
			if p, ok := f.wholeRecord(rest); ok {
				return append(pieces, p), junk
			}
		}
		if next < 0 {
			p := f.fragment(rest, nil)
			return append(pieces, p), junk || !jsonl.LooksTorn(rest)
		}
		if tries++; tries <= maxInterleaved {
			if outer := f.interleaved(rest, next-at); outer != nil {
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

// startFinder finds where in a line records begin, from its start to its end.
type startFinder struct {
	raw    []byte
	starts [][]byte
	next   []int // of each start, the newest that was found; behind the line, if there are no more
}

func newStartFinder(raw []byte, starts [][]byte) *startFinder {
	return &startFinder{raw, starts, make([]int, len(starts))}
}

// behind returns where behind a place, which is not before the one asked for last, a record begins, -1 if nowhere.
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

// interleaved reads a record that another writer's whole record was written into the middle of.
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

// fragment is a record's torn start, closed where that is honest, or dead bytes. What follows it on the same line
// or the next tells whether the same record was written again: then nothing is lost with it.
func (f *Normalizer) fragment(raw, rest []byte) piece {
	if rest == nil {
		if next := f.peekHeld(); next != nil {
			rest = next.Raw
		}
	}
	if !repeats(raw, rest) {
		closed := f.closeTorn(raw)
		if closed == nil {
			closed = f.shorten(raw, len(bytes.TrimSpace(rest)) == 0)
		}
		if closed != nil {
			return piece{raw: closed, torn: true, mended: true}
		}
	}
	return piece{raw: raw, dead: true, rule: BadJSON}
}

func (f *Normalizer) peekHeld() *heldLine {
	f.line.hold()
	return f.peek(0)
}
