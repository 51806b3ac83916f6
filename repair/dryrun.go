package repair

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"github.com/hist-cli/hist/internal/publish"
	"github.com/hist-cli/hist/lint"
)

func (w *job) dryRun(ctx context.Context) (*Report, error) {
	if w.plan.Empty() {
		if w.op == nil && w.effectiveMode() != ToFile {
			return w.report(nil), nil // no copy would be made
		}
	} else {
		if rep, err := w.earlierCopy(ctx); rep != nil || err != nil {
			return rep, err
		}
	}
	if w.effectiveMode() == NewThread { // it has an id that is not that of any thread, and as long as all are
		w.standIn = uuid.Max.String()
		now := time.Now()
		w.target = filepath.Join(w.copyDir(now), w.agent.NewName(now, w.standIn))
	}
	if err := w.attempt(ctx, "", func() error { return w.try(ctx) }); err != nil {
		return nil, w.named(err)
	}
	if w.effectiveMode() == InPlace && w.made != nil { // without a rewrite no byte moves
		if err := w.checkDependants(ctx); err != nil {
			return nil, w.named(err)
		}
	}
	return w.report(nil), nil
}

// try makes the copy and looks at it, and keeps nothing.
func (w *job) try(ctx context.Context) error {
	pipe, done := w.verifyAhead(ctx)
	var text bytes.Buffer
	to := io.Writer(pipe)
	if w.op == nil {
		if err := w.readBefore(ctx); err != nil {
			return err
		}
	}
	if w.op != nil || !w.read.unread {
		to = io.MultiWriter(pipe, &text)
	}
	err := w.fill(ctx, to, nil)
	pipe.CloseWithError(err)
	res := <-done
	if err != nil {
		return err
	}
	if res.err != nil || w.plan.Empty() {
		w.copied = res.result
		return res.err
	}
	w.copied = res.result
	if err := nothingLeft(w.copied, w.Choice); err != nil {
		return err
	}
	if w.op != nil {
		return w.prove(ctx, text.Bytes())
	}
	if err := w.compared(); err != nil || w.unreadable(&w.copied.Summary) {
		return err
	}
	return w.proveRepair(ctx, text.Bytes())
}

// effectiveMode is the mode, or the one that a dry run tries.
func (w *job) effectiveMode() Mode {
	if w.Mode == DryRun {
		return w.Instead
	}
	return w.Mode
}

type linted struct {
	result *lint.Result
	err    error
}

// verifyAhead lints what is written to the pipe, so that a dry run can tell what the copy would be without a file.
func (w *job) verifyAhead(ctx context.Context) (*io.PipeWriter, <-chan linted) {
	pr, pw := io.Pipe()
	done := make(chan linted, 1)
	go func() {
		res, err := lint.Session(ctx, pr, w.copyOptions())
		pr.CloseWithError(err)
		done <- linted{res, err}
	}()
	return pw, done
}

// stream spools the copy, verifies it and only then writes to the stream.
func (w *job) stream(ctx context.Context) (*Report, error) {
	spool, err := os.CreateTemp("", ".hist-*.tmp")
	if err != nil {
		return nil, fmt.Errorf("spooling the copy: %w", err)
	}
	defer os.Remove(spool.Name())
	defer spool.Close()
	err = w.attempt(ctx, "", func() error {
		if _, err := spool.Seek(0, io.SeekStart); err != nil {
			return err
		}
		if err := spool.Truncate(0); err != nil {
			return err
		}
		if w.aside != nil {
			w.aside.Reset()
		}
		if err := w.fill(ctx, spool, w.aside); publish.Full(err) {
			return fmt.Errorf("%w (point TMPDIR to a larger disk)", err)
		} else if err != nil {
			return err
		}
		return w.verify(ctx, spool.Name(), false)
	})
	if err != nil {
		return nil, w.named(err)
	}
	if _, err := spool.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	if _, err := io.Copy(w.Stream, spool); err != nil {
		return nil, fmt.Errorf("writing the repaired session: %w", err)
	}
	return w.report(nil), nil
}
