package normalize

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/jsonl"
)

// A program that puts each line into a cell of a table, or into a list of texts, or the file into one text, writes records in quotes: as JSON
// texts, or with each quote doubled, as in CSV.

var csvStart = []byte(`"{""`)

// quoted are the records that stand in quotes on a line; none if the line is not just that.
func (f *Normalizer) quoted(raw []byte) (pieces []piece) {
	text := bytes.TrimRight(unquoted(bytes.TrimRight(raw, blanks)), "\r\n")
	for line := range bytes.SplitSeq(text, []byte("\n")) {
		p, ok := f.wholeRecord(line)
		if !ok || p.mended {
			return nil
		}
		pieces = append(pieces, piece{raw: line, mended: true})
	}
	switch {
	case f.encoding == Array: // of which all has been said
	case len(pieces) > 1:
		fault := f.report(NotObject, 0, finding.Exact, fmt.Sprintf("%d records are in one text in quotes: the client skips all of them", len(pieces)))
		if f.line.Number == 1 && f.atTail() {
			fault.Impact = finding.Blocks
		}
	default:
		f.report(NotObject, 0, finding.Exact, "the record is in quotes: the client takes the line for a text and skips it")
	}
	return pieces
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
