package repair

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/disk"
	"github.com/hist-cli/hist/internal/inspect"
	"github.com/hist-cli/hist/internal/publish"
	"github.com/hist-cli/hist/internal/runs"
)

// reproject repairs only the client's view of the session, not its file.
func (w *job) reproject(ctx context.Context) (*Report, error) {
	run, err := w.begin()
	if err != nil {
		return nil, err
	}
	f := runs.File{Source: w.Source.Real, SizeBefore: w.Source.Size(), ModTimeBefore: w.Source.Info.ModTime(), Home: w.Home}
	f.SHA256Before, err = runs.HashOf(ctx, w.Source)
	if err == nil {
		err = w.keepRows(ctx, run, &f)
	}
	if err != nil {
		return nil, errors.Join(w.named(err), discard(run))
	}
	if f.Rows == "" {
		return w.report(nil), discard(run)
	}
	var guard *disk.Guard
	defer func() { guard.Release() }()
	err = run.Beside(f, func() (err error) {
		guard, err = w.settleView(ctx, &f)
		return err
	})
	if err != nil {
		return nil, errors.Join(w.named(err), w.giveBack(ctx, run, &f))
	}
	w.target = w.Source.Real
	return w.report(run), nil
}

// viewFrom is the offset from which the client's view of the session will be wrong: where the first byte moves, or 0 if it
// was wrong before.
func (w *job) viewFrom() int64 {
	if w.plan.Reproject {
		return 0
	}
	return w.made.from
}

// keepRows saves what the client's database holds of the session in the run's record, if some of it must be cleared: it may be
// the only copy.
func (w *job) keepRows(ctx context.Context, run *runs.Run, f *runs.File) error {
	views := openHome(ctx, w.Home)
	if views == nil {
		return nil
	}
	stale, err := w.staleView(ctx, views)
	if err != nil || !stale {
		return err
	}
	f.Rows, f.RowsSHA256, err = run.KeepRows(filepath.Base(w.Source.Real), func(to io.Writer) error { return views.SaveView(ctx, w.Source.Real, to) })
	if errors.Is(err, agent.ErrSchema) && w.foundDamaged(views.ViewName()) {
		return nil // if the database is moved away, all of it is kept
	}
	if err != nil {
		return fmt.Errorf("keeping what the client's database holds of the session: %w", err)
	}
	return nil
}

// staleView says whether the client's view will be wrong when the file is replaced.
func (w *job) staleView(ctx context.Context, views *inspect.Home) (bool, error) {
	read, ok, err := views.Viewed(ctx, w.Source.Real)
	if errors.Is(err, agent.ErrSchema) {
		if w.foundDamaged(views.ViewName()) {
			return false, nil
		}
		w.notes = append(w.notes, err.Error()+"; it was left alone: if the client shows old turns, it needs this thread's rows deleted")
		return false, nil
	}
	return err == nil && ok && (w.plan.Reproject || read > w.viewFrom()), err
}

// settleView makes sure that nobody else uses the session, and then clears the client's view where it would be wrong. Until the
// guard is released, nobody can open the file.
func (w *job) settleView(ctx context.Context, f *runs.File) (*disk.Guard, error) {
	guard, busy, err := disk.Hold(w.Source.Real)
	switch {
	case err != nil:
		return nil, err
	case busy != nil:
		return nil, busy
	}
	if err := w.Source.Changed(); err != nil {
		return guard, err
	}
	if err := w.clearProjection(ctx, f); err != nil {
		return guard, err
	}
	if guard.Broken() {
		return guard, disk.ErrBusy
	}
	return guard, w.Source.Changed() // that takes a while, and the lease is on the file, not on its name
}

// clearProjection clears what the client's view has from bytes that move, so that the client reads it anew. This is done before
// the file is replaced; if that fails, giveBack restores what was cleared, which is right for the old file.
func (w *job) clearProjection(ctx context.Context, f *runs.File) error {
	views := openHome(ctx, w.Home)
	if f.Rows == "" || views == nil {
		return nil
	}
	w.cleared = true
	n, err := views.RewindView(ctx, w.Source.Real, f.RowsSHA256, w.viewFrom())
	if err != nil {
		w.cleared = false // it is one transaction
		if errors.Is(err, agent.ErrSchema) && w.foundDamaged(views.ViewName()) {
			return nil // if the database is moved away, the client makes all of it anew
		}
		return err
	}
	publish.Step("cleared")
	w.notes = append(w.notes, fmt.Sprintf("%d rows of the client's view of this thread (%s) were cleared, after a copy of them was kept; it builds them again at the next resume", n, views.ViewName()))
	return nil
}

// giveBack restores the rows that were cleared for a repair which then failed, and discards the run. If they can't be restored,
// the run stays.
func (w *job) giveBack(ctx context.Context, run *runs.Run, f *runs.File) error {
	if views := openHome(ctx, w.Home); views != nil && w.cleared {
		if _, err := restoreRows(context.WithoutCancel(ctx), run, f.Rows, views, w.Source.Real, ""); err != nil {
			return fmt.Errorf("rows of %s that were cleared before could not be brought back; they are kept in %s: %w", views.ViewName(), filepath.Join(run.Path(), f.Rows), err)
		}
	}
	return discard(run)
}

// restoreRows restores the client's view from what the run has kept; false if there is no such database any more. now is the
// SHA-256 of the view as it is, "" if it may be anything.
func restoreRows(ctx context.Context, run *runs.Run, name string, views *inspect.Home, path, now string) (bool, error) {
	rows, err := run.OpenRows(name)
	if err != nil {
		return false, err
	}
	defer rows.Close()
	return views.RestoreView(ctx, path, now, rows)
}
