package repair

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hist-cli/hist/internal/codex/home"
	"github.com/hist-cli/hist/internal/codex/store"
	"github.com/hist-cli/hist/internal/failpoint"
	"github.com/hist-cli/hist/lint"
)

// checkDependants refuses an in-place repair that would move bytes which other sessions rely on.
func (w *job) checkDependants(ctx context.Context) error {
	id, err := store.RolloutID(w.Source.Real)
	if w.Home == "" || err != nil {
		return nil // outside of a home, or under a name that nothing can point to
	}
	list, err := store.Dependants(ctx, w.Home, id)
	if err != nil {
		return err
	}
	var names []string
	for _, d := range list {
		if w.rw.moved() < d.Offset {
			names = append(names, d.Path)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return fmt.Errorf("%w:\n  %s\nrepair without --in-place makes a copy that leaves them right", ErrDependants, strings.Join(names, "\n  "))
}

// lookBeside adds to what was found in the session what is wrong between it and its neighbours. A copy elsewhere gets
// a view of its own from its client, so that one that is wrong is no matter of it.
func (w *job) lookBeside(ctx context.Context) error {
	if w.Home == "" {
		return nil
	}
	found, err := lint.OpenHome(ctx, w.Home).Session(ctx, w.Source, w.found)
	if err != nil && w.Mode != InPlace && ctx.Err() == nil {
		w.notes = append(w.notes, "not compared with what its client keeps beside it: "+err.Error())
		return nil
	}
	if err != nil {
		return err
	}
	for _, f := range found {
		if !f.Reproject || w.as() == InPlace {
			w.found.Findings = append(w.found.Findings, f)
		}
	}
	slices.SortStableFunc(w.found.Findings, func(a, b lint.Finding) int { return cmp.Compare(a.Pos.Line, b.Pos.Line) })
	return nil
}

// reproject mends nothing but the client's view of the session.
func (w *job) reproject(ctx context.Context) (*Report, error) {
	guard, err := w.settleView(ctx)
	defer guard.Release()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", w.Source.Path, err)
	}
	rep := w.report(nil)
	rep.Target, rep.Resume = w.Source.Real, w.resume()
	return rep, nil
}

// settleView makes sure that the session is nobody else's, and then clears the client's view of it where that would
// be wrong. Until the guard is released nobody can open the file.
func (w *job) settleView(ctx context.Context) (*home.Guard, error) {
	guard, busy, err := home.Hold(w.Source.Real)
	switch {
	case err != nil:
		return nil, err
	case busy != nil:
		return nil, busy
	}
	if err := w.Source.Changed(); err != nil {
		return guard, err
	}
	if err := w.clearProjection(ctx); err != nil {
		return guard, err
	}
	if guard.Broken() {
		return guard, home.ErrBusy
	}
	return guard, nil
}

// clearProjection makes the client build its view of the session anew, if the bytes it has read have moved or the view
// was wrong before. It is done before the file is replaced: a view of the old file that was cleared in vain is built
// again, too.
func (w *job) clearProjection(ctx context.Context) error {
	id, err := store.RolloutID(w.Source.Real)
	if w.Home == "" || err != nil {
		return nil
	}
	view, ok, err := store.Projected(ctx, w.Home, id)
	if errors.Is(err, store.ErrSchema) {
		w.notes = append(w.notes, err.Error()+"; it was left alone: if the client shows old turns, it needs this thread's rows deleted")
		return nil
	}
	if err != nil || !ok || !w.plan.Reproject && view.Offset <= w.rw.moved() {
		return err
	}
	n, err := store.Clear(ctx, w.Home, id)
	if err != nil {
		return err
	}
	failpoint.At("cleared")
	w.notes = append(w.notes, fmt.Sprintf("%d rows of the client's view of this thread (thread_history_1.sqlite) were cleared; it builds them again at the next resume", n))
	return nil
}

// Neighbours checks, before a repair is taken back, that nobody uses the file and that no other session relies on
// its bytes as they are now; and clears the client's view of it.
func Neighbours(ctx context.Context, path, homeDir string) error {
	name, _ := home.ParseName(filepath.Base(path))
	busy, err := home.InUse(path, homeDir, name.ThreadID)
	if err != nil {
		return err
	}
	if busy != nil {
		return fmt.Errorf("%s: %w", path, busy)
	}
	if homeDir == "" || name.RolloutID == "" {
		return nil
	}
	list, err := store.Dependants(ctx, homeDir, name.RolloutID)
	if err != nil {
		return err
	}
	if len(list) > 0 {
		return fmt.Errorf("%s: %w: %s", path, ErrDependants, list[0].Path)
	}
	if _, err := store.Clear(ctx, homeDir, name.RolloutID); err != nil && !errors.Is(err, store.ErrSchema) {
		return err
	}
	return nil
}
