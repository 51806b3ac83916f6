package normalize

import (
	"bytes"
	"slices"

	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/jsonl"
)

// marks are the characters that hold a record together.
const marks = `,:"{}[]`

// maxLacking is the longest line in which the character that it lacks is looked for: it is read once for each place where one may be lacking.
const maxLacking = 1 << 20

// lacking puts back the one character outside of all texts that a record lacks: all of what it says is there to be read. Few characters at few places can be the cause of a fault; that the record is whole with one of them, and with no
// other, proves it. It returns false if it is not. A line that lacks its end was cut short: then more may be missing.
func (f *Normalizer) lacking(raw []byte, v jsonl.Verdict) (piece, bool) {
	text := bytes.TrimRight(raw, blanks)
	if len(raw) > maxLacking || v.Fault != jsonl.Syntax && v.Fault != jsonl.Truncated || len(text) == 0 || text[0] != '{' || text[len(text)-1] != '}' {
		return piece{}, false
	}
	var whole []byte
	for _, place := range places(raw, v.At) {
		for _, mark := range place.marks {
			text := slices.Insert(bytes.Clone(raw), place.at, byte(mark))
			if read := f.scanner.Scan(text, f.spans); read.Fault != jsonl.None || read.Duplicate >= 0 { // with a key twice, it is two records
				continue
			}
			switch p, ok := f.wholeRecord(text); {
			case !ok || p.mended:
			case whole != nil && !bytes.Equal(whole, text):
				return piece{}, false
			default:
				whole = text
			}
		}
	}
	if whole == nil {
		return piece{}, false
	}
	fault := f.report(BadJSON, v.At, finding.Recovered, "one character is missing, without which no client reads the record; with it the line is whole")
	fault.Source = "the rest of the line"
	return piece{raw: whole, mended: true}, true
}

// place is where one of some marks may be lacking.
type place struct {
	at    int
	marks string
}

// places are where a mark may be lacking because of which a fault shows at an offset: there; in front of what begins a text or a list; at the
// end of a text that lost its closing quote, and so goes on to the next one.
func places(raw []byte, fault int) []place {
	const near = 32 // bytes from a closing quote that is missing to where the next text begins: a mark, or a number between two
	bare := fault
	for bare > 0 && bytes.IndexByte([]byte(marks), raw[bare-1]) < 0 {
		bare--
	}
	places := []place{{bare, `"`}}
	if fault < len(raw) { // at its end, nothing shows where a brace belongs
		places = append(places, place{fault, marks}, place{fault - 1, `,:}`})
	}
	end := bytes.LastIndexByte(raw[:fault], '"')
	for _, tail := range []int{end, fault} {
		for i := tail - 1; i > 0 && i >= tail-near; i-- {
			if raw[i] != '"' && bytes.IndexByte([]byte(marks), raw[i]) >= 0 {
				places = append(places, place{i, `"`})
			}
		}
	}
	if begin := bytes.LastIndexByte(raw[:max(end, 0)], '"'); begin > 0 && fault < len(raw) {
		places = append(places, place{begin, `{["`}, place{begin - 1, `]}"`})
	}
	return slices.DeleteFunc(places, func(p place) bool { return p.at < 1 || p.at >= len(raw) })
}
