package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/hist-cli/hist/fleet/plan"
	"github.com/hist-cli/hist/fleet/store"
	"github.com/hist-cli/hist/lint"
)

func (e *env) checkCommand() *cli.Command {
	return &cli.Command{
		Name: "check", Usage: "say whether all shards of a run are there, and what they found", ArgsUsage: "RUN",
		Description: exitHelp,
		Flags:       []cli.Flag{failOnFlag()},
		Action: func(ctx context.Context, c *cli.Command) error {
			run, err := runOf(c)
			if err != nil {
				return err
			}
			threshold, err := lint.ParseImpact(c.String("fail-on"))
			if err != nil {
				return usage("--fail-on: %w", err)
			}
			return e.check(ctx, run, threshold)
		},
	}
}

// check adds up the results that the shards of a run have written.
func (e *env) check(ctx context.Context, run plan.Run, threshold lint.Impact) error {
	out, err := store.Open(run.Out)
	if err != nil {
		return usage("%w", err)
	}
	p, err := plan.Load(ctx, out, run)
	if err != nil {
		return err
	}
	all, missing := &done{Outcomes: map[string]int64{}, Worst: map[string]int64{}}, []string(nil)
	for i, part := range p.Parts {
		d, err := loadDone(ctx, out, run.DoneKey(i, len(p.Parts)))
		if errors.Is(err, store.ErrGone) || err == nil && d.Rows != part.Objects+part.Carried {
			missing = append(missing, fmt.Sprintf("%d/%d", i, len(p.Parts)))
			continue
		}
		if err != nil {
			return err
		}
		all.merge(d)
	}
	if len(missing) > 0 {
		return lacking(missing, len(p.Parts), run)
	}
	err = e.verdict(all, p.Young, all.reaches(threshold))
	if all.damaged() > 0 {
		fmt.Fprintf(e.err, "hist-fleet repair %s --shard I/%d --to STORE writes repaired copies\n", run, len(p.Parts))
	}
	return err
}

// lacking is the error of a run of which some shards have not written their rows, with the command that does so.
func lacking(missing []string, of int, run plan.Run) error {
	again := fmt.Sprintf("hist-fleet lint %s --shard %s", run, missing[0])
	shards := count(int64(of), "shard", "shards")
	if len(missing) == 1 {
		return fmt.Errorf("1 of %s is missing; run it again: %s", shards, again)
	}
	names := strings.Join(missing[:min(len(missing), maxNamed)], ", ")
	if len(missing) > maxNamed {
		names += ", …"
	}
	return fmt.Errorf("%d of %s are missing (%s); run each of them again: %s", len(missing), shards, names, again)
}

// maxNamed is how many missing shards are named.
const maxNamed = 10

// reaches says whether a session has a finding at or above a threshold.
func (d *done) reaches(threshold lint.Impact) bool {
	return slices.ContainsFunc(lint.Impacts, func(i lint.Impact) bool { return i.AtLeast(threshold) && d.Worst[i.String()] > 0 })
}

func loadDone(ctx context.Context, out store.Store, key string) (*done, error) {
	body, err := out.Get(ctx, key, "")
	if err != nil {
		return nil, err
	}
	defer body.Close()
	text, err := io.ReadAll(io.LimitReader(body, 1<<20))
	if err != nil {
		return nil, err
	}
	d := &done{}
	if err := json.Unmarshal(text, d); err != nil {
		return nil, fmt.Errorf("%s/%s: %w; run the shard again", out.URL(), key, err)
	}
	return d, nil
}

func (d *done) merge(other *done) {
	d.Rows += other.Rows
	for k, n := range other.Outcomes {
		d.Outcomes[k] += n
	}
	for k, n := range other.Worst {
		d.Worst[k] += n
	}
}
