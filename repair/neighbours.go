package repair

import (
	"context"
	"fmt"
	"strings"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/agent/homes"
	"github.com/hist-cli/hist/internal/inuse"
	"github.com/hist-cli/hist/internal/runs"
	"github.com/hist-cli/hist/lint"
)

// apart takes it as it is that a session could not be compared with what its client keeps beside it, if a repair does
// not touch that.
func (w *job) apart(ctx context.Context, why error) error {
	if w.Mode == InPlace || ctx.Err() != nil {
		return fmt.Errorf("%s: %w", w.Source.Path, why)
	}
	w.notes = append(w.notes, "not compared with what its client keeps beside it: "+why.Error())
	return nil
}

// checkDependants refuses an in-place repair that would move bytes which other sessions rely on.
func (w *job) checkDependants(ctx context.Context) error {
	return dependants(ctx, w.Home, w.Source.Real, w.rw.moved(), "repair without --in-place makes a copy that leaves them right")
}

// dependants refuses to move the bytes of a session from an offset on, if other sessions rely on them. homeDir is the home
// that it lies in, "" if in none.
func dependants(ctx context.Context, homeDir, path string, from int64, advice string) error {
	in, ok := openHome(ctx, homeDir).(agent.Depended)
	if !ok {
		return nil
	}
	list, err := in.Dependants(ctx, path)
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

// openHome is the home at a directory; nil, in which nothing is found by assertion, if there is none.
func openHome(ctx context.Context, dir string) homes.Home {
	if dir == "" {
		return nil
	}
	return homes.Open(ctx, dir)
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
	busy, err := all.InUse(f.Target, c.home(f), lint.NameOf(f.Target, true).ThreadID)
	if err != nil {
		return err
	}
	if busy != nil {
		return fmt.Errorf("%s: %w", f.Target, busy)
	}
	if f.Mode != runs.InPlace {
		return nil
	}
	return dependants(ctx, c.home(f), f.Target, f.DiffersFrom, "taking the repair back would move those")
}

// Claim takes the thread's lock and the file itself, and brings the client's view back to what it was before the repair.
func (c Claims) Claim(ctx context.Context, r *runs.Run, f *runs.File) (claim runs.Claim, err error) {
	thread := lint.NameOf(f.Target, true).ThreadID
	unlock, err := all.Lock(f.Target, c.home(f), thread)
	if err != nil {
		return claim, fmt.Errorf("%s: %w", f.Target, err)
	}
	guard, busy, err := inuse.Hold(f.Target)
	if err == nil && busy != nil {
		err = fmt.Errorf("%s: %w", f.Target, busy)
	}
	if err == nil && (f.Mode == runs.InPlace || f.Mode == runs.View) {
		claim.Note, err = viewBack(ctx, r, f, c.home(f))
	}
	if err == nil && f.Mode == runs.NewThread {
		claim.Note = delist(ctx, c.home(f), f, thread)
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
