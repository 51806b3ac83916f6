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

// try makes the copy, which is linted meanwhile, and keeps nothing of it.
func (w *job) try(ctx context.Context) error {
	if w.op == nil {
		if err := w.readBefore(ctx); err != nil {
			return err
		}
	}
	opts := w.copyOptions()
	pr, pipe := io.Pipe()
	var text bytes.Buffer
	to := io.Writer(pipe)
	if w.op != nil || !w.read.unread {
		to = io.MultiWriter(pipe, &text)
	}
	filled := make(chan error, 1)
	go func() {
		err := w.fill(ctx, to, nil)
		pipe.CloseWithError(err)
		filled <- err
	}()
	copied, err := lint.Session(ctx, pr, opts)
	pr.CloseWithError(err)
	if err := <-filled; err != nil {
		return err
	}
	if w.copied = copied; err != nil || w.plan.Empty() {
		return err
	}
	return w.accept(ctx, func() ([]byte, error) { return text.Bytes(), nil })
}

// effectiveMode is the mode, or the one that a dry run tries.
func (w *job) effectiveMode() Mode {
	if w.Mode == DryRun {
		return w.Instead
	}
	return w.Mode
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
