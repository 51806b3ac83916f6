package repair

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/hist-cli/hist/internal/disk"
	"github.com/hist-cli/hist/lint"
)

// moveDatabases moves the databases beside the session that its client can't read into the run's record, and reports each as an
// edit. It is the last step, because a database is a source of lost content until then. A dry run only reports it.
func (w *job) moveDatabases(ctx context.Context, rep *Report) error {
	for _, f := range w.plan.Rest {
		if !w.movesAway(f) {
			continue
		}
		e := Entry{Rule: f.Rule.Name, Impact: f.Impact.String(), Fix: lint.SetAside.String(), Reason: f.Message, Moved: f.Beside}
		if w.Mode == InPlace {
			kept, err := w.moveDatabase(ctx, f.Beside)
			if err != nil {
				return w.named(err)
			}
			e.Kept, rep.Run, rep.Target, rep.Resume = kept, w.run.Manifest.Run, w.Source.Real, w.resume()
		}
		rep.Edits, rep.Fix = append(rep.Edits, e), lint.SetAside.String()
	}
	return nil
}

// movesAway says whether a finding is about a database that is to be moved away.
func (w *job) movesAway(f *lint.Finding) bool {
	return w.MoveDatabases && w.effectiveMode() == InPlace && f.Beside != "" && f.Option != ""
}

// moveDatabase moves one database, and returns where it is kept. The error is disk.ErrBusy if a client runs, or if it can't be
// known that none does.
func (w *job) moveDatabase(ctx context.Context, path string) (kept string, err error) {
	if err := homeIsFree(ctx, w.Home); err != nil {
		return "", err
	}
	run, err := w.begin()
	if err != nil {
		return "", err
	}
	var guards []*disk.Guard
	defer func() { release(guards) }()
	kept, err = run.MoveAway(ctx, path, w.Home, "", func() (err error) {
		guards, err = holdDatabases(ctx, w.Home)
		return err
	})
	if err != nil {
		return "", errors.Join(err, discard(run))
	}
	return filepath.Join(run.Path(), kept), nil
}

// foundDamaged says whether lint has reported that a database beside the session can't be read, so that nothing more need be
// said of it.
func (w *job) foundDamaged(name string) bool {
	return slices.ContainsFunc(w.plan.Rest, func(f *lint.Finding) bool { return f.Beside != "" && filepath.Base(f.Beside) == name })
}

// homeIsFree returns an error if somebody has a database of a home open.
func homeIsFree(ctx context.Context, home string) error {
	guards, err := holdDatabases(ctx, home)
	release(guards)
	return err
}

// holdDatabases keeps everybody from opening the databases of a home. A running client has one of them open, if not the one
// that is moved. Where the system can't tell who has a file open, the error says that they are in use.
func holdDatabases(ctx context.Context, home string) (guards []*disk.Guard, err error) {
	b := openHome(ctx, home)
	if b == nil {
		return nil, nil
	}
	for _, path := range b.Databases() {
		guard, busy, err := disk.Hold(path)
		switch {
		case err != nil:
			return guards, err
		case busy != nil:
			return guards, fmt.Errorf("%s: %w; end the clients of this home first", path, busy)
		case guard == nil:
			return guards, fmt.Errorf("%s: %w: this system can't tell whether a client has it open; end all clients, and move it by hand", path, disk.ErrBusy)
		}
		guards = append(guards, guard)
	}
	return guards, unbroken(guards)
}

// unbroken returns an error if somebody has begun to open a file since it was held.
func unbroken(guards []*disk.Guard) error {
	for _, g := range guards {
		if g.Broken() {
			return fmt.Errorf("a client begins to use the home: %w", disk.ErrBusy)
		}
	}
	return nil
}

func release(guards []*disk.Guard) {
	for _, g := range guards {
		g.Release()
	}
}

// homeClaim keeps everybody from opening a database of a home while one is brought back to it.
type homeClaim struct {
	home   string
	held   bool
	guards []*disk.Guard
}

// Settle holds the databases that are there.
func (c *homeClaim) Settle(ctx context.Context) (err error) {
	if c.held {
		return unbroken(c.guards)
	}
	c.held = true
	c.guards, err = holdDatabases(ctx, c.home)
	return err
}

// GiveBack has nothing to revert: the next undo leaves alone what was already written of a database.
func (c *homeClaim) GiveBack(context.Context) error { return nil }

// Done has nothing left to do.
func (c *homeClaim) Done(context.Context) string { return "" }

// Release lets others open the databases again.
func (c *homeClaim) Release() { release(c.guards) }
