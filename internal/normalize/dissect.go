package normalize

import (
	"bytes"
	"unicode/utf8"

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
		if raw[0] == '"' && len(raw) <= maxMendText {
			if pieces := f.quoted(raw); pieces != nil {
				return pieces
			}
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
	case raw[0] == '"' && (v.Surrogate < 0 || v.Surrogate > len(raw)-len(`\ud83c\udf3f`)): // the end may be cut off within a character
		if pieces := f.quoted(raw); pieces != nil {
			return pieces
		}
	}
	switch {
	case v.Fault == jsonl.None && !v.Object:
		f.report(NotObject, 0, finding.SetAside, "the line is JSON but not a record: the client skips it")
		return []piece{{raw: raw, dead: true, rule: NotObject}}
	}
	if p, ok := f.mendAndReport(raw, v); ok {
		return []piece{p}
	}
	if p, ok := f.turned(raw, v); ok {
		return []piece{p}
	}
	if p, ok := f.unescaped(raw, v); ok {
		return []piece{p}
	}
	if p, ok := f.lacking(raw, v); ok {
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

// mendLongText mends the characters of a long line that is otherwise one record: that takes only a few times its length in
// memory.
func (f *Normalizer) mendLongText(raw []byte) (piece, bool) {
	if len(raw) > maxMendText || manyControls(raw) {
		return piece{}, false
	}
	v := f.scanner.Scan(raw, f.spans)
	if !v.Object || v.Fault != jsonl.None && v.Fault != jsonl.Control {
		return piece{}, false
	}
	return f.mendAndReport(raw, v)
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

// charMend is what was wrong with the characters of a record, and how it was mended.
type charMend struct {
	rule    *finding.Rule
	at      int // bytes from the start of the record
	fix     finding.Fix
	message string
	source  string
}

// mendAndReport mends the characters of a text that is otherwise one record, and reports what was wrong with them. It
// reports nothing if the result is not a whole record.
func (f *Normalizer) mendAndReport(raw []byte, v jsonl.Verdict) (piece, bool) {
	p, mends, ok := f.mendText(raw, v)
	for _, m := range mends {
		f.report(m.rule, m.at, m.fix, m.message).Source = m.source
	}
	return p, ok
}

// mendText mends the characters of a text that is otherwise one record; v is the verdict on the text. It returns false, and
// no mends, if the result is not a whole record.
func (f *Normalizer) mendText(raw []byte, v jsonl.Verdict) (piece, []charMend, bool) {
	if whole(&v) {
		return piece{raw: raw}, nil, true
	}
	var mends []charMend
	out := raw
	if v.Fault != jsonl.Syntax || !utf8.Valid(raw) {
		if out, mends = f.mendNames(raw); len(mends) > 0 {
			v = f.scanner.Scan(out, f.spans)
		}
	}
	if at := firstInvalid(out); at >= 0 {
		fixed, mend := mendUTF8(out, at)
		mends = append(mends, mend)
		if v = f.scanner.Scan(fixed, f.spans); v.Fault == jsonl.Syntax { // the bad bytes are outside the strings
			if dropped := dropInvalid(out); f.scanner.Scan(dropped, f.spans).Fault == jsonl.None {
				fixed, v = dropped, f.scanner.Scan(dropped, f.spans)
			}
		}
		out = fixed
	}
	if v.Fault == jsonl.Control {
		mends = append(mends, charMend{RawControl, v.At, finding.Exact, "a string holds an unescaped control character: the client drops the record", ""})
		out = escapeControls(out)
		v = f.scanner.Scan(out, f.spans)
	}
	if v.Fault == jsonl.None && v.Surrogate >= 0 {
		mends = append(mends, charMend{LoneSurrogate, v.Surrogate, finding.StandIn, "an escaped surrogate is missing its other half: the client drops the record", ""})
		out = mendSurrogates(out)
		v = f.scanner.Scan(out, f.spans)
	}
	if v.Fault != jsonl.None || !v.Object || v.Surrogate >= 0 {
		return piece{}, nil, false
	}
	p := piece{raw: out, mended: len(mends) > 0}
	for _, m := range mends {
		p.fix = max(p.fix, m.fix)
	}
	return p, mends, true
}

// wholeRecord returns the record that raw is, or can be mended to be; false if raw is not exactly one record of the agent.
func (f *Normalizer) wholeRecord(raw []byte) (piece, bool) {
	p, _, ok := f.mendText(raw, f.scanner.Scan(raw, f.spans))
	if !ok {
		return piece{}, false
	}
	f.scanner.Scan(p.raw, f.spans)
	probe := session.Record{Raw: p.raw, Spans: f.spans}
	return p, f.dec.Envelope(&probe)
}
