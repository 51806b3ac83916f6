package normalize

import (
	"bytes"
	"unicode/utf8"

	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/jsonl"
)

// A program that puts each line into a cell of a table, or into a list of texts, writes records in quotes: as JSON texts, or with each
// quote doubled, as in CSV.

var csvStart = []byte(`"{""`)

// quoted is the record that stands in quotes on a line; false if the line is not just that.
func (f *Normalizer) quoted(raw []byte) (piece, bool) {
	text := unquoted(bytes.TrimRight(raw, blanks))
	if text == nil || bytes.IndexByte(text, '\n') >= 0 {
		return piece{}, false
	}
	p, ok := f.wholeRecord(text)
	if !ok || p.mended {
		return piece{}, false
	}
	f.report(NotObject, 0, finding.Exact, "the record is in quotes: the client takes the line for a text and skips it")
	return piece{raw: text, mended: true}, true
}

// unquoted is a text in quotes without them; nil if it is none.
func unquoted(raw []byte) []byte {
	if bytes.HasPrefix(raw, csvStart) && len(raw) > len(csvStart) && raw[len(raw)-1] == '"' {
		return bytes.ReplaceAll(raw[1:len(raw)-1], []byte(`""`), []byte(`"`))
	}
	text, ok := jsonl.Unquote(raw)
	if !ok || !utf8.Valid(raw) {
		return nil
	}
	return []byte(text)
}
