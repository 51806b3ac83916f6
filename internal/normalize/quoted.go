package normalize

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/jsonl"
)

// A program that puts each line into a cell of a table, or into a list of texts, or the file into one text, writes records in quotes: as JSON
// texts, or with each quote doubled, as in CSV.

var csvStart = []byte(`"{""`)

// quoted are the records that stand in quotes on a line; none if the line is not just that.
func (f *Normalizer) quoted(raw []byte) (pieces []piece) {
	text, torn := unquoted(bytes.TrimRight(raw, blanks)), []byte(nil)
	if text == nil && f.line.Number == 1 && f.atTail() {
		text, torn = tornText(raw)
	}
	text = bytes.TrimRight(text, "\r\n")
	for line := range bytes.SplitSeq(text, []byte("\n")) {
		p, ok := f.wholeRecord(line)
		if !ok || p.mended {
			return nil
		}
		pieces = append(pieces, piece{raw: line, mended: true})
	}
	if f.encoding != Array { // of which all has been said
		message := "the record is in quotes: the client takes the line for a text and skips it"
		if len(pieces) > 1 {
			message = fmt.Sprintf("%d records are in one text in quotes: the client skips all of them", len(pieces))
		}
		fault := f.report(NotObject, 0, finding.Exact, message)
		if f.line.Number == 1 && f.atTail() {
			fault.Impact = finding.Blocks
		}
	}
	if len(torn) > 0 {
		pieces = append(pieces, f.dissectText(torn)...)
	}
	return pieces
}

// tornText is a text in quotes whose end is cut off: its whole lines, and the last one.
func tornText(raw []byte) (lines, last []byte) {
	for cut := 0; cut < len(`\u00e4`) && cut < len(raw); cut++ { // the cut may be in an escape
		if text, ok := jsonl.Unquote(append(bytes.Clone(raw[:len(raw)-cut]), '"')); ok {
			end := strings.LastIndexByte(text, '\n') + 1
			return []byte(text[:end]), []byte(text[end:])
		}
	}
	return nil, nil
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
