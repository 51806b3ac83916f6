package repair

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hist-cli/hist/internal/agent/codex/home"
	"github.com/hist-cli/hist/internal/agent/codex/store"
	"github.com/hist-cli/hist/internal/failpoint"
	"github.com/hist-cli/hist/internal/runs"
	"github.com/hist-cli/hist/lint"
)

// checkDependants refuses an in-place repair that would move bytes which other sessions rely on.
func (w *job) checkDependants(ctx context.Context) error {
	id, err := store.RolloutID(w.Source.Real)
	if w.Home == "" || err != nil {
		return nil // outside of a home, or under a name that nothing can point to
	}
	return dependants(ctx, w.Home, id, w.rw.moved(), "repair without --in-place makes a copy that leaves them right")
}

// dependants refuses to move the bytes of a rollout from an offset on, if other sessions rely on them.
func dependants(ctx context.Context, homeDir, rolloutID string, from int64, advice string) error {
	list, err := store.Dependants(ctx, homeDir, rolloutID)
	if err != nil {
		return err
	}
	var names []string
	for _, d := range list {
		if from < d.Offset {
			names = append(names, d.Path)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return fmt.Errorf("%w:\n  %s\n%s", ErrDependants, strings.Join(names, "\n  "), advice)
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

// Claims keeps clients from the files of a run while it is taken back. HomeOf tells in which agent's home a file lies, for
// the records of older versions, which do not say.
type Claims struct{ HomeOf func(path string) string }

func (c Claims) home(f *runs.File) string {
	if f.Home != "" {
		return f.Home
	}
	return c.HomeOf(f.Target)
}

// Check refuses a file that somebody uses (home.ErrBusy), and one whose bytes, as they are now, other sessions rely on.
func (c Claims) Check(ctx context.Context, f *runs.File) error {
	name, _ := home.ParseName(filepath.Base(f.Target))
	busy, err := home.InUse(f.Target, c.home(f), name.ThreadID)
	if err != nil {
		return err
	}
	if busy != nil {
		return fmt.Errorf("%s: %w", f.Target, busy)
	}
	if f.Mode != runs.InPlace || c.home(f) == "" || name.RolloutID == "" {
		return nil
	}
	return dependants(ctx, c.home(f), name.RolloutID, f.DiffersFrom, "taking the repair back would move those")
}

// Claim takes the thread's lock and the file itself, and clears the client's view of a session that is put back.
func (c Claims) Claim(ctx context.Context, f *runs.File) (claim runs.Claim, err error) {
	name, _ := home.ParseName(filepath.Base(f.Target))
	unlock := func() {}
	if c.home(f) != "" && home.IsID(name.ThreadID) {
		if unlock, err = home.Lock(c.home(f), name.ThreadID); err != nil {
			return claim, fmt.Errorf("%s: %w", f.Target, err)
		}
	}
	guard, busy, err := home.Hold(f.Target)
	if err == nil && busy != nil {
		err = fmt.Errorf("%s: %w", f.Target, busy)
	}
	if err == nil && f.Mode == runs.InPlace && c.home(f) != "" && name.RolloutID != "" {
		if _, err = store.Clear(ctx, c.home(f), name.RolloutID); errors.Is(err, store.ErrSchema) {
			err = nil
		}
	}
	claim.Release = func() {
		guard.Release()
		unlock()
	}
	claim.Still = func() error {
		if guard.Broken() {
			return fmt.Errorf("%s: %w", f.Target, home.ErrBusy)
		}
		return nil
	}
	if err != nil {
		claim.Release()
	}
	return claim, err
}
