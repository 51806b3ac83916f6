package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/hist-cli/hist/fleet/plan"
	"github.com/hist-cli/hist/fleet/store"
	"github.com/hist-cli/hist/fleet/work"
	"github.com/hist-cli/hist/internal/walk"
)

func (e *env) undoCommand() *cli.Command {
	return &cli.Command{
		Name: "undo", Usage: "put back the damaged sessions that a repair in place has replaced", ArgsUsage: "RUN",
		Description: "Each comes from .hist/originals/ETAG/, where it stays, and only if the object is still what the repair made of\n" +
			"it. Copies (repair --to) replaced nothing: they can be deleted.\n\n" + exitHelp,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "shard", Usage: "the shard whose repairs are undone, `I/N`, or auto/N to take I from the scheduler"},
			&cli.StringSliceFlag{Name: "key", Usage: "undo only the repair of the object with this `KEY`; may be given more than once"},
			workersFlag(),
		},
		Action: e.undo,
	}
}

func (e *env) undo(ctx context.Context, c *cli.Command) error {
	run, err := runOf(c)
	if err != nil {
		return err
	}
	if c.Int("workers") < 1 {
		return usage("--workers is %d: want 1 or more", c.Int("workers"))
	}
	p, s, err := e.planned(ctx, c, run)
	if err != nil {
		return err
	}
	undoer, err := newUndoer(p, run)
	if err != nil {
		return err
	}
	return e.undoPart(ctx, undoer, run, s, c.StringSlice("key"), c.Int("workers"))
}

func newUndoer(p *plan.Plan, run plan.Run) (*work.Undoer, error) {
	if !strings.HasPrefix(p.Source, "s3://") {
		return nil, usage("hist-fleet replaces nothing in a directory; hist undo undoes what hist repair has done there")
	}
	from, err := store.Open(p.Source)
	if err != nil {
		return nil, usage("%w", err)
	}
	return &work.Undoer{Store: from, RunID: run.ID}, nil
}

// undoPart undoes the repairs of a shard's damaged sessions: of those with the given keys or, without any, of all.
func (e *env) undoPart(ctx context.Context, undoer *work.Undoer, run plan.Run, s walk.Shard, keys []string, workers int) error {
	out, err := store.Open(run.Out)
	if err != nil {
		return usage("%w", err)
	}
	damaged, err := damagedOf(ctx, out, run, s)
	if err != nil {
		return err
	}
	if len(keys) > 0 {
		if damaged, err = onlyKeys(damaged, keys); err != nil {
			return err
		}
	}
	if err := store.Probe(ctx, undoer.Store, fmt.Sprintf("%sprobe/%s/%d", work.Private, run.ID, s.Index)); err != nil {
		return err
	}
	var report bytes.Buffer
	enc := json.NewEncoder(&report)
	outcomes := map[string]int64{}
	err = work.Each(ctx, workers, damaged, undoer.Undo, func(row work.UndoRow) error {
		outcomes[row.Outcome]++
		if row.Error != "" {
			fmt.Fprintf(e.err, "hist-fleet: %s: %s\n", oneLine(row.Key), oneLine(row.Error))
		}
		return enc.Encode(row)
	})
	if err != nil {
		return err
	}
	if err := putReport(ctx, out, run.UndoneKey(s.Index, s.Count), &report, s); err != nil {
		return err
	}
	fmt.Fprintf(e.err, "%s damaged: %d undone, %d never replaced, %d changed since, %d could not be read or written\n",
		count(int64(len(damaged)), "session", "sessions"), outcomes[work.Undone], outcomes[work.Unrepaired], outcomes[work.Changed], outcomes[work.Unreadable])
	switch {
	case outcomes[work.Unreadable] > 0:
		return exit(exitIO)
	case outcomes[work.Changed] > 0:
		return exit(exitFindings)
	}
	return nil
}

// onlyKeys returns the objects with these keys.
func onlyKeys(damaged []store.Object, keys []string) (list []store.Object, err error) {
	for _, key := range keys {
		before := len(list)
		for _, o := range damaged {
			if o.Key == key {
				list = append(list, o)
			}
		}
		if len(list) == before {
			return nil, usage("--key %s: the shard has no damaged session of that key", key)
		}
	}
	return list, nil
}
