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

// witness reads the records that references name.
type witness struct {
	dec   session.Decoder
	src   *source.Source
	enc   normalize.Encoding
	asked int            // how often
	plain *source.Source // the text of a source that can't be read at a place, nil as long as it is asked for little

	offset  int64 // of the line read last
	records [][]byte
}

// fewRefs is how many records of a source that can only be read from its start are looked for one by one. For more of
// them its text is written to a temporary file first.
const fewRefs = 4

// record reads the record that a reference names.
func (w *witness) record(ctx context.Context, ref lint.Ref) ([]byte, error) {
	if ref.Pos.Lost > 0 {
		return []byte(ref.Text), nil
	}
	w.asked++
	if w.records == nil || w.offset != ref.Offset {
		if err := w.line(ctx, ref); err != nil {
			return nil, err
		}
	}
	if ref.Pos.Part >= len(w.records) {
		return nil, fmt.Errorf("the record at %s is not there any more", ref.Pos)
	}
	return bytes.Clone(w.records[ref.Pos.Part]), nil
}

// line reads all records of the line that a reference is about.
func (w *witness) line(ctx context.Context, ref lint.Ref) (err error) {
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
	w.records, err = recordsOf(w.dec, raw[0], ref.Offset > 0)
	return err
}

// unpack writes the text of the source to a temporary file, once.
func (w *witness) unpack(ctx context.Context) error {
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

func (w *witness) close() {
	if w.plain != nil {
		w.plain.Close()
	}
}

// maxTwice bounds how many members of one record that are named twice are looked at.
const maxTwice = 64

// lastOfTwo takes the first of two members with one name out of a record that is read, as its client would read it.
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

// recordsOf returns the records of the first line of a text, which is a file from its start or from inside of it.
func recordsOf(dec session.Decoder, text []byte, inside bool) (records [][]byte, err error) {
	in := normalize.New(bytes.NewReader(text), normalize.Options{Decoder: dec, Inside: inside, Mend: func(*lint.Finding) bool { return true }})
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
