package repair

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/hist-cli/hist/internal/normalize"
	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/lint"
)

// evidence reads the record that a reference names. A file that is not UTF-8 has other offsets than its text, so
// there the record is looked for by its place.
func (w *job) evidence(ctx context.Context, ref lint.Ref) ([]byte, error) {
	if w.found.Summary.Encoding == normalize.UTF8 {
		raw, err := w.Source.Extract(ctx, []source.Ref{{Offset: ref.Offset, Length: ref.Size}})
		if err != nil {
			return nil, err
		}
		return w.pick(bytes.NewReader(raw[0]), session.Pos{Line: 1, Part: ref.Pos.Part})
	}
	r, err := w.Source.Reader(ctx)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return w.pick(r, ref.Pos)
}

// pick returns the record at a place in a text.
func (w *job) pick(text io.Reader, at session.Pos) ([]byte, error) {
	framer := normalize.New(text, normalize.Options{Decoder: w.agent.Decoder(), Mend: func(*lint.Finding) bool { return true }})
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
