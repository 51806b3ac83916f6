package cmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/hist-cli/hist/internal/inuse"
	"github.com/hist-cli/hist/internal/runs"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/repair"
)

// moveDatabases moves the databases that no client can open out of the homes of these sessions, before any of those is repaired.
func (r *repairRun) moveDatabases(ctx context.Context, list []target) {
	if !r.c.Bool("move-databases") {
		return
	}
	seen := map[string]bool{}
	for _, t := range list {
		if t.home == "" || seen[t.home] {
			continue
		}
		seen[t.home] = true
		for _, path := range repair.BrokenDatabases(ctx, t.home) {
			r.moveDatabase(ctx, t.home, path)
		}
	}
}

// moveDatabase moves one, and says so on standard error, where it does not disturb a report.
func (r *repairRun) moveDatabase(ctx context.Context, home, path string) {
	if r.mode == repair.DryRun {
		fmt.Fprintf(r.env.err, "%s: no client can open this database: it would be moved into the run's record (dry run)\n", oneLine(path))
		return
	}
	run, err := r.begin()
	if err == nil {
		err = repair.MoveDatabase(ctx, run, home, path)
	}
	if err == nil {
		fmt.Fprintf(r.env.err, "%s: no client could open this database: it was moved to %s; hist undo %s brings it back\n", oneLine(path), oneLine(run.Path()), run.Manifest.Run)
		return
	}
	if run != nil {
		if kept := run.Discard(); kept != nil && !errors.Is(kept, runs.ErrKept) {
			err = errors.Join(err, kept)
		}
	}
	code := ExitIO
	if errors.Is(err, inuse.ErrBusy) || errors.Is(err, source.ErrChanged) {
		code = ExitInUse
	}
	r.codes[code] = true
	r.env.complain(err.Error())
}
