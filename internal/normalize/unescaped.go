package normalize

import (
	"bytes"
	"slices"

	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/jsonl"
)

// maxUnescaped is how many backslashes of one line are put back: a program that took out one took out those of copies of the same text,
// too.
const maxUnescaped = 4

// unescaped puts back backslashes that a program took out of a record: in front of a quote, which then ends its string too early, or of a
// backslash, which then escapes what it can't. Where each belongs, the first fault of the text shows; that the record is whole with them
// proves it. It returns false if it is not.
func (f *Normalizer) unescaped(raw []byte, v jsonl.Verdict) (piece, bool) {
	if text := bytes.TrimRight(raw, blanks); len(text) == 0 || text[0] != '{' || text[len(text)-1] != '}' {
		return piece{}, false
	}
	text, first, alone := raw, -1, -1 // alone: a quote that no other proves yet
	for range maxUnescaped {
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
		text = slices.Insert(bytes.Clone(text), at, bytes.Repeat([]byte{'\\'}, lacks)...)
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
	switch text[quote-1] {
	case '{', '[', ',', ':': // it begins a string: another record stands in the middle of this one, or something else is missing
		return -1, 0, false
	}
	// In a text that is JSON itself, as arguments are, quotes have more than one backslash: as many as the one before it.
	before := backslashes(text, bytes.LastIndexByte(text[:quote], '"'))
	if has := backslashes(text, quote); before%2 == 1 && before > has {
		return quote, before - has, false
	}
	after := bytes.IndexByte(text[quote+1:], '"')
	return quote, 1, before%2 == 0 && (after < 0 || backslashes(text, quote+1+after)%2 == 0) // if it stays the only one, it rather came in there by damage
}

// backslashes is how many stand in front of a byte of a text.
func backslashes(text []byte, at int) (n int) {
	for at > n && text[at-n-1] == '\\' {
		n++
	}
	return n
}
