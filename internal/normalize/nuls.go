package normalize

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// minZeros is how many NULs in a row must have replaced something: no record is shorter. A file system leaves them that
// had lengthened the file and lost power before it wrote the text; a block that was never written is NULs, too.
const minZeros = 64

// zeroMark replaces the bytes of a text that are lost.
const zeroMark = "[hist: %d bytes are lost here; what follows may belong to something else]"

// dissectNULs finds the records in a line with NULs in it. A few NULs are padding, and are removed. Many have replaced a
// part of the line: what is on both sides of them is not joined, unless both are words of one text.
func (f *Normalizer) dissectNULs(raw []byte) []piece {
	at := bytes.IndexByte(raw, 0)
	message := fmt.Sprintf("%d NUL bytes", bytes.Count(raw, []byte{0}))
	parts := splitZeros(raw)
	if len(parts) == 0 {
		f.report(NULBytes, at, finding.Exact, message).Impact = finding.Notes
		return nil
	}
	if len(parts) == 1 && !parts[0].zeros {
		if named := f.fillNames(raw); named != nil {
			f.report(NULBytes, at, finding.Recovered, message+" overwrote a part of a name in this record: the client drops the line").Source = "what the record lacks"
			return []piece{{raw: named, mended: true}}
		}
		mark := len(f.faults)
		f.report(NULBytes, at, finding.Exact, message+" hide a record: the client drops the line")
		pieces := f.dissectText(parts[0].text)
		if len(f.faults) > mark+1 && !slices.ContainsFunc(pieces, func(p piece) bool { return !p.dead || p.torn }) {
			f.faults = slices.Delete(f.faults, mark, mark+1) // no record was hidden: what is wrong with the line without them is what is wrong
		}
		for i := range pieces {
			pieces[i].holed = bytes.Count(raw, []byte{0})
		}
		return pieces
	}
	if p, ok := f.markZeros(parts); ok {
		f.report(NULBytes, at, finding.StandIn, message+" overwrote a part of this record: the client drops the line")
		return []piece{p}
	}
	mark := len(f.faults)
	var pieces []piece
	whole := true // what comes before ends with a whole record
	for _, part := range parts {
		if !part.zeros {
			pieces = append(pieces, f.dissectPart(part.text)...)
			last := pieces[len(pieces)-1]
			whole = !last.dead && !last.torn
		} else if whole {
			pieces = append(pieces, piece{raw: part.text, dead: true})
		}
	}
	f.tellOnce(mark)
	f.report(NULBytes, at, finding.Exact, message+" are in this line: the client drops it")
	return pieces
}

// fillNames puts the only names into a line that NULs in it can have overwritten, those that the record lacks; nil if one of them is not
// certain.
func (f *Normalizer) fillNames(raw []byte) []byte {
	left := bytes.Count(raw, []byte{0})
	if left > maxName {
		return nil
	}
	out := bytes.ReplaceAll(raw, []byte{0}, []byte{session.LostByte})
	for ; left > 0; left-- {
		rec := session.Record{Raw: out, Spans: f.spans}
		if v := f.scanner.Scan(out, f.spans); v.Fault != jsonl.None || !v.Object {
			return nil
		}
		f.dec.Decode(&rec)
		at, was, ok := f.dec.Misspelled(&rec)
		if !ok || raw[at] != 0 {
			return nil
		}
		out[at] = was
	}
	return out
}

// maxName is how many bytes of a name may be lost.
const maxName = 16

// tellOnce keeps only the first of the faults that several parts of one line have in common, with the weakest fix of all.
func (f *Normalizer) tellOnce(mark int) {
	kept := f.faults[:mark]
	for _, fault := range f.faults[mark:] {
		first := slices.IndexFunc(kept[mark:], func(k finding.Finding) bool { return k.Rule == fault.Rule })
		if first < 0 {
			kept = append(kept, fault)
		} else if one := &kept[mark+first]; fault.Fix > one.Fix {
			one.Fix, one.Message = fault.Fix, fault.Message
		}
	}
	f.faults = kept
}

// dissectPart finds the records in the text between the NULs of a line.
func (f *Normalizer) dissectPart(text []byte) []piece {
	if p, ok := f.mendAndReport(text, f.scanner.Scan(text, f.spans)); ok {
		return []piece{p}
	}
	return f.unglue(text)
}

// part is a part of a line: many NULs, or what stands between them.
type part struct {
	text  []byte
	zeros bool
}

// splitZeros cuts a line at its long runs of NULs, and removes the short ones. Blanks beside a long run belong to it. It
// returns nothing if there is nothing but NULs and blanks.
func splitZeros(raw []byte) (parts []part) {
	var text []byte
	any := false
	blank := func() bool { return len(bytes.TrimSpace(text)) == 0 }
	flush := func() {
		parts, text, any = append(parts, part{text: text}), nil, true
	}
	for len(raw) > 0 {
		n := bytes.IndexByte(raw, 0)
		if n < 0 {
			n = len(raw)
		}
		text = append(text, raw[:n]...)
		raw = raw[n:]
		rest := bytes.TrimLeft(raw, "\x00")
		if zeros := raw[:len(raw)-len(rest)]; len(zeros) >= minZeros {
			if !blank() {
				flush()
			}
			parts, text = append(parts, part{append(text, zeros...), true}), nil
		}
		raw = rest
	}
	if !blank() {
		flush()
	} else if last := len(parts) - 1; last >= 0 {
		parts[last].text = append(parts[last].text, text...)
	}
	if !any {
		return nil
	}
	return parts
}

// maxPartial is how many bytes before a cut are looked at for what it has cut in two.
const maxPartial = 64

// markZeros makes one record of the parts of a line if the NULs between them are inside one text, and says in that text what
// is lost.
func (f *Normalizer) markZeros(parts []part) (piece, bool) {
	if len(parts) > 1 && parts[len(parts)-1].zeros {
		parts = parts[:len(parts)-1] // nothing follows
	}
	var out []byte
	var marks []string
	for i, p := range parts {
		switch {
		case p.zeros && i == 0:
			return piece{}, false
		case p.zeros:
			mark := fmt.Sprintf(zeroMark, len(p.text))
			end := max(0, len(out)-maxPartial) // only there an escape or a letter can be cut
			out = append(out[:end+len(jsonl.TrimPartial(out[end:]))], mark...)
			marks = append(marks, mark)
		case i == 0:
			out = append(out, p.text...)
		default:
			out = append(out, bytes.TrimLeftFunc(p.text, func(r rune) bool { return r == '\ufffd' })...)
		}
	}
	if len(marks) == 0 {
		return piece{}, false
	}
	one, ok := f.wholeRecord(out)
	if !ok {
		return piece{}, false
	}
	f.scanner.Scan(one.raw, f.spans)
	rec := session.Record{Raw: one.raw, Spans: f.spans}
	f.dec.Decode(&rec)
	for at := 0; len(marks) > 0; marks = marks[1:] {
		n := bytes.Index(one.raw[at:], []byte(marks[0]))
		if n < 0 || !f.dec.TextCut(&rec, at+n) {
			return piece{}, false
		}
		at += n
	}
	return piece{raw: one.raw, torn: true, mended: true}, true
}

// Fills says whether a text is another one without a part of it that is no longer than the NULs which stand in its place: a byte that was
// not written leaves one.
func Fills(whole, text string, nuls int) bool {
	if lost := len(whole) - len(text); lost < 1 || lost > nuls {
		return false
	}
	same := 0
	for same < min(len(text), len(whole)) && text[same] == whole[same] {
		same++
	}
	return strings.HasSuffix(whole, text[same:])
}
