package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/hist-cli/hist/fleet/plan"
	"github.com/hist-cli/hist/fleet/sink"
	"github.com/hist-cli/hist/fleet/store"
	"github.com/hist-cli/hist/fleet/work"
	"github.com/hist-cli/hist/internal/walk"
	"github.com/hist-cli/hist/lint"
)

func (e *env) repairCommand() *cli.Command {
	return &cli.Command{
		Name: "repair", Usage: "repair the damaged sessions of a shard that was linted", ArgsUsage: "RUN",
		Description: "Copies go to another store (--to), or the damaged objects are replaced (--in-place): each only if it is still\n" +
			"the object that was linted, and after a copy was kept under .hist/originals/ETAG/. A bucket has no locks: a client that\n" +
			"syncs its damaged file later overwrites a repair in place.\n\n" + exitHelp,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "shard", Usage: "the shard to repair, `I/N`, or auto/N to take I from the scheduler"},
			&cli.StringFlag{Name: "to", Usage: "write repaired copies to this `STORE`, under their keys"},
			&cli.BoolFlag{Name: "in-place", Usage: "replace the damaged objects; the store must support If-Match"},
			workersFlag(),
		},
		Action: e.repair,
	}
}

func (e *env) repair(ctx context.Context, c *cli.Command) error {
	run, err := runOf(c)
	if err != nil {
		return err
	}
	switch {
	case (c.String("to") == "") == !c.Bool("in-place"):
		return usage("say where repaired sessions go: either --to STORE or --in-place")
	case c.Int("workers") < 1:
		return usage("--workers is %d: want 1 or more", c.Int("workers"))
	}
	p, s, err := e.planned(ctx, c, run)
	if err != nil {
		return err
	}
	work.Tidy(time.Now())
	repairer, err := newRepairer(ctx, c, p, run, s)
	if err != nil {
		return err
	}
	return e.repairPart(ctx, repairer, run, s, c.Int("workers"))
}

func newRepairer(ctx context.Context, c *cli.Command, p *plan.Plan, run plan.Run, s walk.Shard) (*work.Repairer, error) {
	from, err := store.Open(p.Source)
	if err != nil {
		return nil, usage("%w", err)
	}
	linter, err := work.NewLinter(from, run.ID, p.Version, p.Options)
	if err != nil {
		return nil, err
	}
	r := &work.Repairer{Linter: linter}
	if to := c.String("to"); to != "" {
		if r.To, err = store.Open(to); err != nil {
			return nil, usage("--to: %w", err)
		}
		if r.To.URL() == from.URL() {
			return nil, usage("--to is the store that was linted: want another one, or --in-place")
		}
		return r, nil
	}
	if !strings.HasPrefix(p.Source, "s3://") {
		return nil, usage("in a directory, hist repair --in-place knows who is using a session; hist-fleet does not")
	}
	return r, store.Probe(ctx, from, fmt.Sprintf("%sprobe/%s/%d", work.Private, run.ID, s.Index))
}

// repairPart repairs the sessions that are damaged according to a shard's rows.
func (e *env) repairPart(ctx context.Context, r *work.Repairer, run plan.Run, s walk.Shard, workers int) error {
	out, err := store.Open(run.Out)
	if err != nil {
		return usage("%w", err)
	}
	damaged, err := damagedOf(ctx, out, run, s)
	if err != nil {
		return err
	}
	var report bytes.Buffer
	enc := json.NewEncoder(&report)
	outcomes, left := map[string]int64{}, false
	err = work.Each(ctx, workers, damaged, r.Repair, func(row work.RepairRow) error {
		outcomes[row.Outcome]++
		left = left || row.Left > 0 || row.Outcome == work.Refused || row.Outcome == work.Nothing
		if row.Error != "" {
			fmt.Fprintf(e.err, "hist-fleet: %s: %s\n", oneLine(row.Key), oneLine(row.Error))
		}
		return enc.Encode(row)
	})
	if err != nil {
		return err
	}
	if err := putReport(ctx, out, run.RepairsKey(s.Index, s.Count), &report, s); err != nil {
		return err
	}
	fmt.Fprintf(e.err, "%s damaged: %d repaired, %d without a fix, %d refused, %d changed meanwhile, %d could not be read or written\n",
		count(int64(len(damaged)), "session", "sessions"), outcomes[work.Repaired], outcomes[work.Nothing], outcomes[work.Refused], outcomes[work.Changed], outcomes[work.Unreadable])
	switch {
	case outcomes[work.Unreadable] > 0:
		return exit(exitIO)
	case left:
		return exit(exitFindings)
	}
	return nil
}

// damagedOf returns the objects that are damaged according to a shard's rows.
func damagedOf(ctx context.Context, out store.Store, run plan.Run, s walk.Shard) (damaged []store.Object, err error) {
	err = sink.Sessions(ctx, out, run.SessionsKey(s.Index, s.Count), func(row work.SessionRow) error {
		if row.Worst != "" && row.Worst != lint.Notes.String() {
			damaged = append(damaged, store.Object{Key: row.Key, ETag: row.ETag, Size: row.StoredBytes, Modified: row.Modified})
		}
		return nil
	})
	if errors.Is(err, store.ErrGone) {
		return nil, fmt.Errorf("shard %s has not been linted: hist-fleet lint %s --shard %s", s, run, s)
	}
	return damaged, err
}

func putReport(ctx context.Context, out store.Store, key string, report *bytes.Buffer, s walk.Shard) error {
	if err := out.Put(ctx, key, bytes.NewReader(report.Bytes()), int64(report.Len()), store.Condition{}, nil); err != nil {
		return fmt.Errorf("writing the report of shard %s: %w", s, err)
	}
	return nil
}
