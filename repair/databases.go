package repair

import (
	"context"
	"fmt"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/inuse"
	"github.com/hist-cli/hist/internal/runs"
)

// BrokenDatabases are the databases of a home that can't be read, and for which its client opens no session.
func BrokenDatabases(ctx context.Context, home string) []string {
	if b, ok := openHome(ctx, home).(agent.Breakable); ok {
		return b.Broken()
	}
	return nil
}

// MoveDatabase moves one of them into the record of a run. The error is inuse.ErrBusy if a client runs, or if it can't be told
// that none does.
func MoveDatabase(ctx context.Context, run *runs.Run, home, path string) error {
	if err := homeIsFree(ctx, home); err != nil {
		return err
	}
	var guards []*inuse.Guard
	defer func() { release(guards) }()
	return run.MoveAway(ctx, path, home, func() (err error) {
		guards, err = holdDatabases(ctx, home)
		return err
	})
}

// homeIsFree says that nobody has a database of a home open.
func homeIsFree(ctx context.Context, home string) error {
	guards, err := holdDatabases(ctx, home)
	release(guards)
	return err
}

// holdDatabases keeps everybody from opening a database of a home: a client that runs has one of them open, if not the one that
// is moved. Where the system can't tell who has a file open, that counts as in use.
func holdDatabases(ctx context.Context, home string) (guards []*inuse.Guard, err error) {
	b, ok := openHome(ctx, home).(agent.Breakable)
	if !ok {
		return nil, nil
	}
	for _, path := range b.Databases() {
		guard, busy, err := inuse.Hold(path)
		switch {
		case err != nil:
			return guards, err
		case busy != nil:
			return guards, fmt.Errorf("%s: %w; end the clients of this home first", path, busy)
		case guard == nil:
			return guards, fmt.Errorf("%s: %w: this system can't tell whether a client has it open; end all clients, and move it by hand", path, inuse.ErrBusy)
		}
		guards = append(guards, guard)
	}
	return guards, unbroken(guards)
}

// unbroken says that nobody has begun to open a file since it was held.
func unbroken(guards []*inuse.Guard) error {
	for _, g := range guards {
		if g.Broken() {
			return fmt.Errorf("a client begins to use the home: %w", inuse.ErrBusy)
		}
	}
	return nil
}

func release(guards []*inuse.Guard) {
	for _, g := range guards {
		g.Release()
	}
}

// homeClaim keeps everybody from opening a database of a home while one is brought back to it.
type homeClaim struct {
	home   string
	held   bool
	guards []*inuse.Guard
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

// GiveBack has nothing to revert: what was written of a database until then is what the next undo leaves as it is.
func (c *homeClaim) GiveBack(context.Context) error { return nil }

// Done has nothing left to do.
func (c *homeClaim) Done(context.Context) string { return "" }

// Release lets others open the databases again.
func (c *homeClaim) Release() { release(c.guards) }
