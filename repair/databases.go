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
	for _, g := range guards {
		if g.Broken() {
			return guards, fmt.Errorf("a client begins to use the home: %w", inuse.ErrBusy)
		}
	}
	return guards, nil
}

func release(guards []*inuse.Guard) {
	for _, g := range guards {
		g.Release()
	}
}
