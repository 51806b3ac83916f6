package repair

import (
	"context"

	"github.com/hist-cli/hist/internal/surgery"
)

// Sizes are the bytes of a session and of what came of it, by class. Each is empty if it is not known.
type Sizes struct{ Before, After []surgery.Size }

// weigh takes the sizes of the session, if they are asked for.
func (w *job) weigh(ctx context.Context) error {
	if !w.Sizes || w.sizes.Before != nil {
		return nil
	}
	text, err := w.text(ctx)
	if err != nil {
		return w.named(err)
	}
	s, err := surgery.Read(w.agent, w.found.Summary.Header, text, w.Lint.Name)
	if err != nil {
		return w.named(err)
	}
	w.sizes.Before = s.Sizes()
	return nil
}

// weighed takes the sizes of the result.
func (w *job) weighed(text []byte) error {
	if !w.Sizes {
		return nil
	}
	s, err := surgery.Read(w.agent, w.found.Summary.Header, text, w.Lint.Name)
	if err != nil {
		return err
	}
	w.sizes.After = s.Sizes()
	return nil
}
