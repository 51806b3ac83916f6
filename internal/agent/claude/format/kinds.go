package format

import (
	"bytes"
	"slices"

	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// Span is a jsonl.Span in half the memory: no line is longer than an int32 can count.
type Span struct{ start, end int32 }

// SpanOf is a jsonl.Span in half its memory.
func SpanOf(s jsonl.Span) Span { return Span{int32(s.Start), int32(s.End)} }

// From is the offset of its first byte.
func (s Span) From() int { return int(s.start) }

// To is the offset behind its last byte.
func (s Span) To() int { return int(s.end) }

// In converts it back.
func (s Span) In() jsonl.Span { return jsonl.Span{Start: int(s.start), End: int(s.end)} }

// Place is where a record is in the file.
type Place struct {
	line, Offset int64
	size, part   int32 // no record is longer than fits
}

// PlaceOf is where a finding's record is.
func PlaceOf(r finding.Ref) Place { return Place{r.Pos.Line, r.Offset, int32(r.Size), r.Pos.Part} }

// Set is PlaceOf of a record in hand, without a value that is put together first (see finding.Ref.Set).
func (p *Place) Set(rec *session.Record) {
	p.line, p.Offset, p.size, p.part = rec.Pos.Line, rec.Offset, int32(rec.Size), rec.Pos.Part
}

// Pos is the record's line, and which of its records it is.
func (p *Place) Pos() session.Pos { return session.Pos{Line: p.line, Part: p.part} }

// Ref is the place as findings name it.
func (p *Place) Ref() finding.Ref {
	return finding.Ref{Pos: p.Pos(), Offset: p.Offset, Size: int64(p.size)}
}

// Kind are the short texts of a record that many records have in common.
type Kind struct {
	Typ        string // as it stands there
	Version    string
	Attachment string
	Stop       string // why the model stopped, as it stands there
	Session    string // the id of the session, as it stands there
}

// Vocabulary stores the words of the newest kinds of records, so that each is kept only once.
type Vocabulary struct {
	kinds  [16]*Kind
	next   [16]int // the kind that came last behind each of them
	last   int     // that of the newest record
	oldest int
}

// Of are the words of a record.
func (v *Vocabulary) Of(rec *session.Record) *Kind {
	typ, version, attachment, stop, id := Text(rec, FieldType), Text(rec, FieldVersion), Text(rec, FieldAttachment), Text(rec, FieldStopReason), Text(rec, FieldSession)
	is := func(w *Kind) bool {
		return w != nil && w.Typ == string(typ) && w.Stop == string(stop) && w.Attachment == string(attachment) && w.Version == string(version) && w.Session == string(id)
	}
	if next := v.next[v.last]; is(v.kinds[next]) {
		v.last = next
		return v.kinds[next]
	}
	for i, w := range v.kinds {
		if is(w) {
			v.next[v.last], v.last = i, i
			return w
		}
	}
	w := &Kind{Typ: Decoded(rec, FieldType), Version: Decoded(rec, FieldVersion), Attachment: Decoded(rec, FieldAttachment), Stop: string(stop), Session: string(id)}
	if !slices.ContainsFunc([][]byte{typ, version, attachment}, func(b []byte) bool { return bytes.IndexByte(b, '\\') >= 0 }) {
		v.kinds[v.oldest] = w
		v.oldest = (v.oldest + 1) % len(v.kinds)
	}
	return w
}
