package repair

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/disk"
	"github.com/hist-cli/hist/internal/inspect"
	"github.com/hist-cli/hist/internal/publish"
	"github.com/hist-cli/hist/internal/runs"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/lint"
)

// What callers of Do and Undo must tell apart; test with errors.Is.
var (
	// ErrInUse says that a process uses the session, or a database of its home.
	ErrInUse = disk.ErrBusy
	// ErrChanged says that the session was written while it was repaired.
	ErrChanged = source.ErrChanged
	// ErrMovedOn says that a file is no longer what the repair left there, so the repair was not undone.
	ErrMovedOn = runs.ErrMovedOn
)

// Undone is one file that Undo dealt with.
type Undone = runs.Undone

// Undo undoes a repair: what it replaced is restored byte for byte, and what it made is removed. run is the whole id, as in
// Report.Run. All files are checked first, and if one of them must stay as it is, nothing is changed. A later error comes with
// what was done; another call goes on from there.
func Undo(ctx context.Context, run string) ([]Undone, error) {
	r, err := runs.Load(run)
	if err != nil {
		return nil, err
	}
	if r.Manifest.Run != run { // Load accepts the beginning of an id, and "" for the newest run
		return nil, fmt.Errorf("%q: %w", run, runs.ErrNoRun)
	}
	return r.Undo(ctx, Claims{HomeOf: func(string) string { return "" }, Dependants: inspect.DependantsOfMany()})
}

// Claims keeps clients away from the files of a run while it is undone. HomeOf says in which agent's home a file is, for
// records of older versions of hist, which do not say so. Dependants lists the sessions that rely on a file's bytes; if it is
// nil, every header of the home is read for each file.
type Claims struct {
	HomeOf     func(path string) string
	Dependants agent.DependantsBy
}

func (c Claims) home(f *runs.File) string {
	if f.Home != "" {
		return f.Home
	}
	return c.HomeOf(f.Target)
}

// Check returns an error for a file that somebody uses (disk.ErrBusy), and for one on whose present bytes other sessions rely.
func (c Claims) Check(ctx context.Context, f *runs.File) error {
	if f.Mode == runs.Moved {
		return homeIsFree(ctx, c.home(f))
	}
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
	return dependants(ctx, c.Dependants, c.home(f), f.Target, f.DiffersFrom, "undoing the repair would move those")
}

// Claim takes the thread's lock, and saves what the client's database now holds of the session. For a database that was moved
// away, it does nothing yet.
func (c Claims) Claim(ctx context.Context, r *runs.Run, f *runs.File) (runs.Claim, error) {
	if f.Mode == runs.Moved {
		return &homeClaim{home: c.home(f)}, nil
	}
	thread := lint.NameOf(f.Target, true).ThreadID
	unlock, err := all.Lock(f.Target, c.home(f), thread)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Target, err)
	}
	claim := &claim{run: r, file: f, home: c.home(f), thread: thread, unlock: unlock}
	if err := claim.keepView(ctx); err != nil {
		claim.Release()
		return nil, err
	}
	return claim, nil
}

// claim is a file of a run that is being undone.
type claim struct {
	run          *runs.Run
	file         *runs.File
	home, thread string
	unlock       func()
	settled      bool
	guard        *disk.Guard

	views   *inspect.Home // nil if there is nothing to restore, or nothing that could hold it
	kept    string        // the view as it was before the undo, in the run; "" if it was empty
	sum     string        // its SHA-256; "" if its form is not known
	stale   bool          // the view was made of bytes that the undo moves
	changed bool          // the view has been changed back to what it was before the repair
	note    string
}

// keepView saves the client's view before it is changed. If its form is not known, it is left alone.
func (c *claim) keepView(ctx context.Context) error {
	if c.file.Mode != runs.InPlace && c.file.Mode != runs.View {
		return nil
	}
	views := openHome(ctx, c.home)
	if views == nil {
		return nil
	}
	read, viewed, err := views.Viewed(ctx, c.file.Target)
	unknown := errors.Is(err, agent.ErrSchema)
	if err != nil && !unknown {
		return err
	}
	c.stale = viewed && read > c.file.DiffersFrom && c.file.Mode == runs.InPlace
	if c.file.Rows == "" && !c.stale {
		return nil
	}
	c.views = views
	if unknown {
		return nil
	}
	c.kept, c.sum, err = c.run.KeepRows(filepath.Base(c.file.Target)+".undone", func(to io.Writer) error { return views.SaveView(ctx, c.file.Target, to) })
	if errors.Is(err, agent.ErrSchema) { // the file is what matters
		c.views, c.note = nil, c.notBack(views, err)
		return nil
	}
	if err != nil {
		return fmt.Errorf("keeping what the client's database holds of the session: %w", err)
	}
	if c.kept == "" {
		c.sum = source.NewSum().Hex()
	}
	return nil
}

// Settle takes the file itself, so that nobody can open it, and restores the client's view to what it was before the repair.
func (c *claim) Settle(ctx context.Context) error {
	if !c.settled {
		guard, busy, err := disk.Hold(c.file.Target)
		if err == nil && busy != nil {
			err = busy
		}
		if err != nil {
			return fmt.Errorf("%s: %w", c.file.Target, err)
		}
		c.guard, c.settled = guard, true
		if err := c.viewBack(ctx); err != nil {
			return err
		}
	}
	if c.guard.Broken() {
		return fmt.Errorf("%s: %w", c.file.Target, disk.ErrBusy)
	}
	return nil
}

// viewBack restores the client's view to what it was before the repair or, if nothing of that was kept, makes it right for the
// original.
func (c *claim) viewBack(ctx context.Context) (err error) {
	if c.views == nil {
		return nil
	}
	if c.file.Rows != "" {
		c.changed, err = restoreRows(ctx, c.run, c.file.Rows, c.views, c.file.Target, c.sum)
		if err != nil && !errors.Is(err, agent.ErrSchema) {
			return err
		}
		if c.changed {
			publish.Step("rows back")
			return nil
		}
		if err == nil {
			err = errors.New("the database is gone")
		}
		c.note, err = c.notBack(c.views, err), nil
	}
	if c.stale && c.sum != "" {
		_, err = c.views.RewindView(ctx, c.file.Target, c.sum, c.file.DiffersFrom)
		if c.changed = err == nil; errors.Is(err, agent.ErrSchema) {
			c.note, err = c.notBack(c.views, err), nil
		}
	}
	return err
}

// notBack says that the client's view is not what it was before the repair, and where that is kept.
func (c *claim) notBack(views *inspect.Home, why error) string {
	note := fmt.Sprintf("what %s held of the session before the repair could not be brought back: %v", views.ViewName(), why)
	if c.file.Rows != "" {
		note += "; it is kept in " + filepath.Join(c.run.Path(), c.file.Rows)
	}
	return note
}

// GiveBack restores the client's view to what it was before the undo.
func (c *claim) GiveBack(ctx context.Context) (err error) {
	if !c.changed {
		return nil
	}
	if c.kept == "" {
		_, err = c.views.RestoreView(ctx, c.file.Target, "", nil)
	} else {
		_, err = restoreRows(ctx, c.run, c.kept, c.views, c.file.Target, "")
	}
	if err != nil {
		return fmt.Errorf("rows of %s that were changed before could not be brought back; they are kept in %s: %w", c.views.ViewName(), filepath.Join(c.run.Path(), c.kept), err)
	}
	return nil
}

// Done removes a copy that is gone from the client's list.
func (c *claim) Done(ctx context.Context) (note string) {
	if c.file.Mode == runs.NewThread {
		return delist(ctx, c.home, c.file, c.thread)
	}
	return c.note
}

// Release releases the file and the thread's lock.
func (c *claim) Release() {
	c.guard.Release()
	c.unlock()
}
