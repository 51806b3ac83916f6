package repair

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/hist-cli/hist/lint"
)

// ErrVerify says that the copy is not what the plan promised; nothing was published.
var ErrVerify = errors.New("the repaired copy failed its check")

// errNothing is the ErrVerify of a copy without a record.
var errNothing = fmt.Errorf("%w: nothing would be left of the session", ErrVerify)

// readBack lints a copy and compares its untouched lines with the session's. It returns what lint found in the copy, and an ErrVerify if
// a line is not what it was.
func readBack(ctx context.Context, copied io.Reader, made *output, opts lint.Options) (*lint.Result, error) {
	h := made.checker()
	if at, ok := copied.(io.ReaderAt); ok {
		opts.Text = at
	}
	res, err := lint.Session(ctx, io.TeeReader(copied, h), opts)
	if err != nil {
		return nil, err
	}
	if res.Summary.Partial != nil {
		return nil, fmt.Errorf("%w: reading it back: %w", ErrVerify, res.Summary.Partial)
	}
	if !h.same() {
		return nil, fmt.Errorf("%w: a line that no edit touched has changed", ErrVerify)
	}
	return res, nil
}

// nothingLeft returns an ErrVerify if a copy, as lint sees it, still has something that the choice allows to mend, or holds no
// record.
func nothingLeft(copied *lint.Result, choice Choice) error {
	if copied.Summary.Records == 0 {
		return errNothing
	}
	if f := fixable(choose(copied.Findings, choice)); f != nil {
		return &unsettledError{f}
	}
	return nil
}

// accept returns an ErrVerify if a copy that was linted has something left to mend, or if its client would send something else of it than
// was promised. text gives the whole copy; it is only asked for where that can be read.
func (w *job) accept(ctx context.Context, text func() ([]byte, error)) error {
	if err := nothingLeft(w.copied, w.Choice); err != nil {
		return err
	}
	prove := w.prove
	if w.op == nil {
		if err := w.compared(); err != nil || w.unreadable(&w.copied.Summary) {
			return err
		}
		if err := w.readBefore(ctx); err != nil || w.read.unread {
			return err
		}
		prove = w.proveRepair
	}
	copied, err := text()
	if err != nil {
		return err
	}
	return prove(ctx, copied)
}

// fixable is a finding that a plan would mend in the text, nil if there is none.
func fixable(p *plan) *lint.Finding {
	for _, f := range p.Mend {
		if f.Rename == "" && !f.Reproject {
			return f
		}
	}
	return nil
}

// unsettledError is the ErrVerify of a copy that has something left to mend.
type unsettledError struct{ left *lint.Finding }

func (e *unsettledError) Error() string {
	return fmt.Sprintf("%v: line %d still has %s (%s); repairing one rule at a time first, with --output and --rule, may help",
		ErrVerify, e.left.Pos.Line, e.left.Rule.Name, e.left.Message)
}

func (e *unsettledError) Unwrap() error { return ErrVerify }
