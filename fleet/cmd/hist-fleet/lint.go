package main

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/hist-cli/hist/fleet/plan"
	"github.com/hist-cli/hist/fleet/sink"
	"github.com/hist-cli/hist/fleet/store"
	"github.com/hist-cli/hist/fleet/work"
	"github.com/hist-cli/hist/internal/format"
	"github.com/hist-cli/hist/internal/walk"
	"github.com/hist-cli/hist/lint"
)

func (e *env) lintCommand() *cli.Command {
	return &cli.Command{
		Name: "lint", Usage: "lint one shard of a run, or a whole store", ArgsUsage: "RUN|STORE",
		Description: "RUN is what plan printed. A shard that has written its rows exits 0 whatever it found, so that no scheduler\n" +
			"mistakes damage for a failed task; check gives the verdict. A STORE is planned, linted and checked in this one process;\n" +
			"without --output its findings are printed and nothing is written.\n\n" + exitHelp,
		Flags: append(append([]cli.Flag{
			&cli.StringFlag{Name: "shard", Usage: "with a RUN: the shard to lint, `I/N`, or auto/N to take I from the scheduler (Kubernetes, AWS Batch, Slurm, Cloud Run)"},
			workersFlag(), failOnFlag(),
		}, planning()...), judging()...),
		Action: e.lint,
	}
}

func workersFlag() cli.Flag {
	return &cli.IntFlag{Name: "workers", Value: 2 * runtime.GOMAXPROCS(0), Usage: "read `N` objects at once"}
}

func failOnFlag() cli.Flag {
	return &cli.StringFlag{Name: "fail-on", Value: "loses", Usage: "exit 1 for findings of this `IMPACT` or a worse one: blocks, loses, rejects, shows or notes"}
}

func (e *env) lint(ctx context.Context, c *cli.Command) error {
	address, err := operand(c, "a run or a store")
	if err != nil {
		return err
	}
	threshold, err := lint.ParseImpact(c.String("fail-on"))
	if err != nil {
		return usage("--fail-on: %w", err)
	}
	if c.Int("workers") < 1 {
		return usage("--workers is %d: want 1 or more", c.Int("workers"))
	}
	if run, ok := plan.ParseRun(address); ok {
		return e.lintShard(ctx, c, run)
	}
	if c.IsSet("shard") {
		return usage("--shard goes with a run: hist-fleet plan makes one of %s", address)
	}
	if c.String("output") == "" {
		return e.lintAndPrint(ctx, c, address, threshold)
	}
	p, run, err := e.plan(ctx, c, 1)
	if err != nil {
		return err
	}
	fmt.Fprintln(e.out, run)
	if err := e.lintPart(ctx, p, run, walk.WholeShard, c.Int("workers")); err != nil {
		return err
	}
	return e.check(ctx, run, threshold)
}

// lintShard lints one shard of a run that was planned before.
func (e *env) lintShard(ctx context.Context, c *cli.Command, run plan.Run) error {
	for _, name := range []string{"output", "previous", "min-age", "for-codex", "for-claude", "provider", "owner"} {
		if c.IsSet(name) {
			return usage("--%s is decided when a run is planned", name)
		}
	}
	p, s, err := e.planned(ctx, c, run)
	if err != nil {
		return err
	}
	return e.lintPart(ctx, p, run, s, c.Int("workers"))
}

// planned loads the plan of a run and finds out which of its shards this process is to do.
func (e *env) planned(ctx context.Context, c *cli.Command, run plan.Run) (*plan.Plan, walk.Shard, error) {
	out, err := store.Open(run.Out)
	if err != nil {
		return nil, walk.Shard{}, usage("%w", err)
	}
	p, err := plan.Load(ctx, out, run)
	if err != nil {
		return nil, walk.Shard{}, err
	}
	s := walk.WholeShard
	if text := c.String("shard"); text != "" {
		if s, err = walk.ParseShard(text, e.getenv); err != nil {
			return nil, s, usage("--shard: %w", err)
		}
	}
	if s.Count != len(p.Parts) {
		return nil, s, usage("the run was planned for %s, not for %d: say --shard I/%d", count(int64(len(p.Parts)), "shard", "shards"), s.Count, len(p.Parts))
	}
	return p, s, nil
}

// done is what a shard writes last, when its rows are in the store.
type done struct {
	Shard    string           `json:"shard"`
	Rows     int64            `json:"rows"`
	Outcomes map[string]int64 `json:"outcomes"`
	Worst    map[string]int64 `json:"worst"` // sessions by the impact of their worst finding
	Finished time.Time        `json:"finished"`
	Seconds  float64          `json:"seconds"`
}

func newDone(s walk.Shard) *done {
	return &done{Shard: s.String(), Outcomes: map[string]int64{}, Worst: map[string]int64{}}
}

func (d *done) add(res *work.Result) {
	d.Rows++
	d.Outcomes[res.Session.Outcome]++
	if res.Session.Worst != "" {
		d.Worst[res.Session.Worst]++
	}
}

// lintPart lints the objects of one shard and writes its rows.
func (e *env) lintPart(ctx context.Context, p *plan.Plan, run plan.Run, s walk.Shard, workers int) error {
	begun := time.Now()
	out, err := store.Open(run.Out)
	if err != nil {
		return usage("%w", err)
	}
	from, err := store.Open(p.Source)
	if err != nil {
		return usage("%w", err)
	}
	linter, err := work.NewLinter(from, run.ID, p.Version, p.Options)
	if err != nil {
		return err
	}
	if p.Version != programVersion() {
		return fmt.Errorf("the run was planned by hist-fleet %s, this is %s: their rows could not be compared; plan again", p.Version, programVersion())
	}
	entries, err := p.Entries(ctx, out, run, s.Index)
	if err != nil {
		return err
	}
	rows, err := sink.NewParquet()
	if err != nil {
		return err
	}
	defer rows.Discard()
	d, transient := newDone(s), int64(0)
	err = work.Each(ctx, workers, entries, func(ctx context.Context, entry plan.Entry) (work.Result, error) {
		if entry.Carried != nil {
			return *entry.Carried, nil
		}
		return linter.Lint(ctx, entry.Object())
	}, func(res work.Result) error {
		d.add(&res)
		if res.Transient {
			transient++
		}
		return rows.Add(res)
	})
	if err != nil {
		return err
	}
	if err := rows.Put(ctx, out, run.SessionsKey(s.Index, s.Count), run.FindingsKey(s.Index, s.Count)); err != nil {
		return err
	}
	if transient > 0 { // the shard's rows are written, but another try may read more
		return fmt.Errorf("shard %s: the store did not deliver %s; run the shard again", s, count(transient, "session", "sessions"))
	}
	d.Finished, d.Seconds = time.Now().UTC(), time.Since(begun).Seconds()
	return plan.PutJSON(ctx, out, run.DoneKey(s.Index, s.Count), d)
}

// lintAndPrint lints a store and prints what it finds, one line per finding.
func (e *env) lintAndPrint(ctx context.Context, c *cli.Command, address string, threshold lint.Impact) error {
	from, err := store.Open(address)
	if err != nil {
		return usage("%w", err)
	}
	linter, err := work.NewLinter(from, "", programVersion(), optionsOf(c))
	if err != nil {
		return usage("%w", err)
	}
	d := newDone(walk.WholeShard)
	reached, young := false, int64(0)
	now := time.Now()
	objects := func(each func(store.Object) error) error {
		return from.List(ctx, "", func(o store.Object) error {
			switch {
			case !work.IsSession(o.Key):
				return nil
			case now.Sub(o.Modified) < c.Duration("min-age"):
				young++
				return nil
			}
			return each(o)
		})
	}
	err = work.Stream(ctx, c.Int("workers"), objects, linter.Lint, func(res work.Result) error {
		d.add(&res)
		reached = e.printFindings(&res, threshold) || reached
		return nil
	})
	if err != nil {
		return err
	}
	return e.verdict(d, young, reached)
}

// printFindings prints the findings of one session, and says whether one reaches the threshold.
func (e *env) printFindings(res *work.Result, threshold lint.Impact) bool {
	reached := false
	if res.Session.Error != "" {
		fmt.Fprintf(e.err, "hist-fleet: %s: %s\n", oneLine(res.Session.Key), oneLine(res.Session.Error))
	}
	for _, f := range res.Findings {
		impact, err := lint.ParseImpact(f.Impact)
		if err != nil || !impact.AtLeast(threshold) {
			continue
		}
		reached = true
		fmt.Fprintf(e.out, "%s:%d: %s [%s]\n", oneLine(f.Key), f.Line, oneLine(format.Words(f.Message, f.Count)), f.Rule)
	}
	return reached
}

// damaged is how many sessions have a finding that is more than a note.
func (d *done) damaged() int64 {
	return d.Worst["blocks"] + d.Worst["loses"] + d.Worst["rejects"] + d.Worst["shows"]
}

// verdict prints the numbers of a run and returns its exit code; young is how many sessions were left out as too young.
func (e *env) verdict(d *done, young int64, reached bool) error {
	fmt.Fprintf(e.err, "%s, %d damaged, %d unreadable, %d changed meanwhile, %d of no known agent, %d unchanged since an earlier run, %d too young\n",
		count(d.Rows, "session", "sessions"), d.damaged(), d.Outcomes[work.Unreadable], d.Outcomes[work.Changed], d.Outcomes[work.Unclaimed], d.Outcomes[work.Cached], young)
	switch {
	case d.Rows == 0 && young > 0:
		return &codeError{exitIO, fmt.Errorf("no session is old enough; --min-age 0s includes those that may still be being written")}
	case d.Rows == 0:
		return &codeError{exitIO, fmt.Errorf("no session was found")}
	case d.Outcomes[work.Unreadable] > 0:
		return exit(exitIO)
	case reached:
		return exit(exitFindings)
	}
	return nil
}
