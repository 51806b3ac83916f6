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

// evidence reads the record that a reference names. A file that is not UTF-8 has other offsets than its text, so
// there the record is looked for by its place.
func evidence(ctx context.Context, dec session.Decoder, from *source.Source, enc normalize.Encoding, ref lint.Ref) ([]byte, error) {
	if ref.Pos.Lost > 0 {
		return []byte(ref.Text), nil
	}
	if enc == normalize.UTF8 {
		raw, err := from.Extract(ctx, []source.Ref{{Offset: ref.Offset, Length: ref.Size}})
		if err != nil {
			return nil, err
		}
		return pick(dec, bytes.NewReader(raw[0]), session.Pos{Line: 1, Part: ref.Pos.Part}, ref.Offset > 0)
	}
	r, err := from.Reader(ctx)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return pick(dec, r, ref.Pos, false)
}

// maxTwice bounds how many members of one record that are named twice are looked at.
const maxTwice = 64

// lastOfTwo takes the first of two members with one name out of a record that is read, as its client would read it.
func lastOfTwo(dec session.Decoder, record []byte) []byte {
	scanner := jsonl.NewScanner(dec.Shape())
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

// pick returns the record at a place in a text, which is a file from its start or from inside of it.
func pick(dec session.Decoder, text io.Reader, at session.Pos, inside bool) ([]byte, error) {
	framer := normalize.New(text, normalize.Options{Decoder: dec, Inside: inside, Mend: func(*lint.Finding) bool { return true }})
	for {
		rec, err := framer.Next()
		if errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("the record at %s is not there any more", at)
		}
		if err != nil {
			return nil, err
		}
		if rec.Pos == at {
			return bytes.Clone(rec.Raw), nil
		}
	}
}
