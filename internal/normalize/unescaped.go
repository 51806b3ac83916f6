package normalize

import (
	"bytes"
	"slices"

	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/jsonl"
)

// maxUnescaped is how many backslashes of one line are put back: a program that took out one took out those of copies of the same text,
// too. Each costs another look at the line, so a long line gets fewer.
const maxUnescaped = 64

// unescaped puts back backslashes that a program took out of a record: in front of a quote, which then ends its string too early, or of a
// backslash, which then escapes what it can't. Where each belongs, the first fault of the text shows; that the record is whole with them
// proves it. It returns false if it is not.
func (f *Normalizer) unescaped(raw []byte, v jsonl.Verdict) (piece, bool) {
	if text := bytes.TrimRight(raw, blanks); len(text) == 0 || text[0] != '{' || text[len(text)-1] != '}' {
		return piece{}, false
	}
	text, first, alone := raw, -1, -1 // alone: a quote that no other proves yet
	for range max(4, min(maxUnescaped, 64<<20/len(raw))) {
		at, lacks, only := missingEscape(text, v.At)
		if v.Fault != jsonl.Syntax || at < 0 || alone >= 0 && alone+2+bytes.IndexByte(text[alone+2:], '"') != at {
			return piece{}, false
		}
		if alone = -1; only {
			alone = at
		}
		if first < 0 {
			first = at
		}
		if len(text) == len(raw) {
			text = bytes.Clone(raw)
		}
		text = slices.Insert(text, at, bytes.Repeat([]byte{'\\'}, lacks)...)
		if v = f.scanner.Scan(text, f.spans); v.Fault != jsonl.None {
			continue
		}
		p, ok := f.wholeRecord(text)
		if !ok || p.mended || alone >= 0 {
			return piece{}, false
		}
		f.report(BadJSON, first, finding.Exact, "a backslash is missing in a string, as where a program replaced words: the client drops the record")
		return piece{raw: text, mended: true}, true
	}
	return piece{}, false
}

// missingEscape is where backslashes are missing that would have kept a fault from being one, and how many; at is -1 if nothing shows
// that. Quotes in a text come in pairs: one next to it, in the same text, has its backslash still, or lacks it, too. alone says that none next
// to it has it.
func missingEscape(text []byte, fault int) (at, lacks int, alone bool) {
	for i := fault; i >= max(0, fault-1); i-- {
		if i+1 < len(text) && text[i] == '\\' && backslashes(text, i)%2 == 0 && bytes.IndexByte([]byte(`"\/bfnrtu`), text[i+1]) < 0 {
			return i, 1, false
		}
	}
	quote := bytes.LastIndexByte(text[:min(fault, len(text))], '"')
	if quote < 1 || backslashes(text, quote)%2 == 1 {
		return -1, 0, false
	}
	next := 0
	if after := bytes.IndexByte(text[quote+1:], '"'); after >= 0 {
		next = backslashes(text, quote+1+after)
	}
	if next%2 == 0 && bytes.IndexByte([]byte("{[,:"), text[quote-1]) >= 0 {
		return -1, 0, false // it begins a string: another record stands in the middle of this one, or something else is missing
	}
	open, has := openQuote(text, quote), backslashes(text, quote)
	if open == 0 && quote+1 < len(text) && text[quote+1] == ':' {
		return -1, 0, false // it ends a key
	}
	// In a text that is JSON itself, as arguments are, quotes have more than one backslash: it closes the pair that is open, or opens one
	// inside of it.
	if open > 0 && has == 0 && next%2 == 1 && next > open {
		open = 2*open + 1
	}
	return quote, max(1, open-has), open == 0 && next%2 == 0 // if it stays the only one, it rather came in there by damage
}

// openQuote is how many backslashes the innermost quote has that is open before another one in a string; 0 if none is open.
func openQuote(text []byte, quote int) int {
	var levels []int
	for quote > 0 {
		if quote = bytes.LastIndexByte(text[:quote], '"'); quote < 0 || backslashes(text, quote)%2 == 0 {
			break
		}
		levels = append(levels, backslashes(text, quote))
	}
	var open []int
	for _, level := range slices.Backward(levels) {
		if n := len(open); n > 0 && open[n-1] == level {
			open = open[:n-1]
		} else {
			open = append(open, level)
		}
	}
	if len(open) == 0 {
		return 0
	}
	return open[len(open)-1]
}

// backslashes is how many stand in front of a byte of a text.
func backslashes(text []byte, at int) (n int) {
	for at > n && text[at-n-1] == '\\' {
		n++
	}
	return n
}
