package normalize

import (
	"bytes"
	"math/bits"

	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/jsonl"
)

// A bit that flips in a bracket, a comma, a colon, a quote or a literal leaves a line that is no JSON. Where it stops to be, or just
// in front of that, that bit is looked for: a line that was cut, glued or overwritten does not become a record by a single bit.

const (
	maxTurned = 1 << 20 // how long a line may be, in bytes, in which a wrong bit is looked for
	maxQuotes = 8       // how many bytes of a text may be its closing quote
)

// turnBack finds the only bit by which a line that is none becomes a record: where its byte stands, and the record. record is nil if
// there is none, or more than one.
func (f *Normalizer) turnBack(raw []byte, v jsonl.Verdict) (record []byte, at int) {
	if v.Fault != jsonl.Syntax && v.Fault != jsonl.Truncated && v.Fault != jsonl.Trailing || len(raw) > maxTurned {
		return nil, 0
	}
	t := turner{f: f, line: bytes.Clone(raw)}
	for _, i := range []int{v.At, v.At - 1} {
		for bit := range 7 {
			t.try(i, 1<<bit)
		}
	}
	t.into(bytes.LastIndexByte(raw[:min(v.At, len(raw))], '['), '{') // a member stands where only a value may
	t.closingQuote(v)
	if len(t.found) != 1 {
		return nil, 0
	}
	return t.record, t.found[0]
}

// turner tries what a line is with another bit.
type turner struct {
	f      *Normalizer
	line   []byte
	found  []int // where a bit makes it a record
	record []byte
}

// try turns a bit of one byte.
func (t *turner) try(at int, bit byte) {
	if at < 0 || at >= len(t.line) || t.line[at] == 0 {
		return
	}
	t.line[at] ^= bit
	if c := t.line[at]; c > ' ' && c < 0x7f && !bytes.Equal(t.line, t.record) && t.f.recordIn(t.line) != nil {
		t.found, t.record = append(t.found, at), bytes.Clone(t.line)
	}
	t.line[at] ^= bit
}

// into makes one byte another, if that differs from it in one bit.
func (t *turner) into(at int, c byte) {
	if at >= 0 && at < len(t.line) && bits.OnesCount8(t.line[at]^c) == 1 {
		t.try(at, t.line[at]^c)
	}
}

// closingQuote looks for the end of the text that has swallowed what follows it, up to where the line stops to be JSON.
func (t *turner) closingQuote(v jsonl.Verdict) {
	end := min(v.At, len(t.line))
	if v.Fault != jsonl.Truncated {
		if end--; end < 0 || t.line[end] != '"' {
			return
		}
	}
	start := bytes.LastIndexByte(t.line[:end], '"')
	if start < 0 {
		return
	}
	for i, tries := start+1, 0; i < end && tries < maxQuotes; i++ {
		if next := t.line[min(i+1, len(t.line)-1)]; bits.OnesCount8(t.line[i]^'"') == 1 && bytes.IndexByte([]byte(",:}]"), next) >= 0 {
			t.into(i, '"')
			tries++
		}
	}
}

// turned reports a line that is a record but for one bit.
func (f *Normalizer) turned(raw []byte, v jsonl.Verdict) (piece, bool) {
	record, at := f.turnBack(raw, v)
	if record == nil {
		return piece{}, false
	}
	f.report(FlippedBit, at, finding.Recovered, "one bit of the line is wrong, so that it is no JSON: the client drops it").Source = "the rest of the line"
	return piece{raw: record}, true
}
