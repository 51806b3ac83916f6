package repair

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hist-cli/hist/internal/agent/codex/home"
	"github.com/hist-cli/hist/internal/agent/codex/store"
	"github.com/hist-cli/hist/internal/agent/homes"
	"github.com/hist-cli/hist/internal/inuse"
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
	found, err := homes.Open(ctx, w.Home).Session(ctx, w.Source, w.found)
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

// Claims keeps clients from the files of a run while it is taken back. HomeOf tells in which agent's home a file lies, for
// the records of older versions, which do not say.
type Claims struct{ HomeOf func(path string) string }

func (c Claims) home(f *runs.File) string {
	if f.Home != "" {
		return f.Home
	}
	return c.HomeOf(f.Target)
}

// Check refuses a file that somebody uses (inuse.ErrBusy), and one whose bytes, as they are now, other sessions rely on.
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

// Claim takes the thread's lock and the file itself, and brings the client's view back to what it was before the repair.
func (c Claims) Claim(ctx context.Context, r *runs.Run, f *runs.File) (claim runs.Claim, err error) {
	name, _ := home.ParseName(filepath.Base(f.Target))
	unlock := func() {}
	if c.home(f) != "" && home.IsID(name.ThreadID) {
		if unlock, err = home.Lock(c.home(f), name.ThreadID); err != nil {
			return claim, fmt.Errorf("%s: %w", f.Target, err)
		}
	}
	guard, busy, err := inuse.Hold(f.Target)
	if err == nil && busy != nil {
		err = fmt.Errorf("%s: %w", f.Target, busy)
	}
	if err == nil && (f.Mode == runs.InPlace || f.Mode == runs.View) && c.home(f) != "" && name.RolloutID != "" {
		claim.Note, err = viewBack(ctx, r, f, c.home(f), name.RolloutID)
	}
	if err == nil && f.Mode == runs.NewThread {
		claim.Note = delist(ctx, c.home(f), f, name.ThreadID)
	}
	claim.Release = func() {
		guard.Release()
		unlock()
	}
	claim.Still = func() error {
		if guard.Broken() {
			return fmt.Errorf("%s: %w", f.Target, inuse.ErrBusy)
		}
		return nil
	}
	if err != nil {
		claim.Release()
	}
	return claim, err
}
