package repair

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/normalize"
	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/lint"
)

// evidenceReader reads the records that references name.
type evidenceReader struct {
	dec   session.Decoder
	src   *source.Source
	enc   normalize.Encoding
	asked int            // how many records were asked for
	plain *source.Source // the text of a source that can't be read at an offset; nil up to fewRefs questions

	offset  int64 // of the line read last
	records [][]byte
}

// fewRefs is how many records of a source that can only be read from its start are looked for one by one. Beyond that, its text
// is first written to a temporary file.
const fewRefs = 4

// record reads the record that a reference names.
func (w *evidenceReader) record(ctx context.Context, ref lint.Ref) ([]byte, error) {
	if ref.Pos.Lost > 0 {
		return []byte(ref.Text), nil
	}
	w.asked++
	if w.records == nil || w.offset != ref.Offset {
		if err := w.line(ctx, ref); err != nil {
			return nil, err
		}
	}
	if int(ref.Pos.Part) >= len(w.records) {
		return nil, fmt.Errorf("the record at %s is not there any more", ref.Pos)
	}
	return bytes.Clone(w.records[ref.Pos.Part]), nil
}

// line reads all records of the line that a reference is about.
func (w *evidenceReader) line(ctx context.Context, ref lint.Ref) (err error) {
	from := w.src
	if w.enc != normalize.UTF8 || w.src.Compressed && w.asked > fewRefs {
		if err := w.unpack(ctx); err != nil {
			return err
		}
		from = w.plain
	}
	raw, err := from.Extract(ctx, []source.Ref{{Offset: ref.Offset, Length: ref.Size}})
	if err != nil {
		return err
	}
	w.offset = ref.Offset
	text := raw[0]
	if ref.Offset == 0 {
		text = normalize.TrimStart(text, w.enc)
	}
	w.records, err = recordsOf(w.dec, text)
	return err
}

// unpack writes the text of the source to a temporary file, once.
func (w *evidenceReader) unpack(ctx context.Context) error {
	if w.plain != nil {
		return nil
	}
	r, err := w.src.Reader(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	_, text := normalize.Text(r)
	w.plain, err = source.Spool(text, "")
	return err
}

func (w *evidenceReader) close() {
	if w.plain != nil {
		w.plain.Close()
	}
}

// newLine makes the line of a new record. If it can't be made from its evidence, its literal stand-in is used, and the
// finding says so.
func (r *rewrite) newLine(ctx context.Context, in insertion) ([]byte, error) {
	c := in.content
	if c.From == nil {
		return c.Literal, nil
	}
	records, err := r.evidenceOf(ctx, c)
	if err != nil {
		return nil, err
	}
	if c.Recipe == nil {
		return records[0], nil
	}
	for i := range records {
		records[i] = lastOfTwo(r.Agent.Decoder, records[i])
	}
	line, err := c.Recipe.Make(records)
	if err != nil && c.Literal != nil {
		in.by.Fix, in.by.Source, in.by.Lost = lint.StandIn, "", 1
		return c.Literal, nil
	}
	return line, err
}

// evidenceOf returns the records that a new one is made from, with the plan's own edits of them.
func (r *rewrite) evidenceOf(ctx context.Context, c lint.Content) (records [][]byte, err error) {
	for _, ref := range append([]lint.Ref{*c.From}, c.More...) {
		record, err := r.evidence.record(ctx, ref)
		if err != nil {
			return nil, err
		}
		if e := r.Plan.edits[ref.Pos]; e != nil && len(e.cuts) > 0 {
			if record, err = session.Apply(record, e.cuts); err != nil {
				return nil, err
			}
		}
		records = append(records, record)
	}
	return records, nil
}

// maxTwice is how many members of one record that are named twice are looked at.
const maxTwice = 64

// lastOfTwo removes the first of two members with one name from a record, as the record's client would read it.
func lastOfTwo(dec session.Decoder, record []byte) []byte {
	scanner := jsonl.NewScanner(dec.Shape())
	defer scanner.Done()
	spans := make([]jsonl.Span, dec.Paths())
	for range maxTwice {
		v := scanner.Scan(record, spans)
		if v.Duplicate < 0 {
			break
		}
		cut, _, ok := session.FirstOfTwo(record, v.Duplicate)
		if !ok {
			break
		}
		shorter, err := session.Apply(record, []lint.Cut{cut})
		if err != nil {
			break
		}
		record = shorter
	}
	return record
}

// recordsOf returns the records of the first line of a text. On its own a line may look like an array although its file is not
// one.
func recordsOf(dec session.Decoder, text []byte) (records [][]byte, err error) {
	in := normalize.New(bytes.NewReader(text), normalize.Options{Decoder: dec, Inside: true, Mend: func(*lint.Finding) bool { return true }})
	defer in.Close()
	for {
		rec, err := in.Next()
		if errors.Is(err, io.EOF) || err == nil && rec.Pos.Line > 1 {
			return records, nil
		}
		if err != nil {
			return nil, err
		}
		records = append(records, bytes.Clone(rec.Raw))
	}
}
