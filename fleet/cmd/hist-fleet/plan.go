package main

import (
	"context"
	"fmt"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/hist-cli/hist/fleet/plan"
	"github.com/hist-cli/hist/fleet/store"
	"github.com/hist-cli/hist/fleet/work"
)

// judging returns the flags that decide about findings and columns.
func judging() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "for-codex", Usage: "judge by what this `VERSION` of Codex does with the damage (the newest is the default)"},
		&cli.StringFlag{Name: "for-claude", Usage: "the same for this `VERSION` of Claude Code (the version that wrote the session and the newest are the default)"},
		&cli.StringFlag{Name: "provider", Usage: "the `API` that the sessions go on with, if it is another than their own: openai, azure, compatible, chatgpt, anthropic or gateway"},
		&cli.StringFlag{Name: "owner", Usage: "a regular `EXPRESSION` over keys whose first group is the column owner, such as ^([^/]+)/"},
	}
}

func optionsOf(c *cli.Command) work.Options {
	return work.Options{ForCodex: c.String("for-codex"), ForClaude: c.String("for-claude"), Provider: c.String("provider"), Owner: c.String("owner")}
}

func planning() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "the `STORE` that plans and rows are written to"},
		&cli.StringFlag{Name: "previous", Value: "latest", Usage: "reuse the rows of sessions that have not changed since this `RUN`: latest, none, or a run's name"},
		&cli.DurationFlag{Name: "min-age", Value: time.Minute, Usage: "leave out sessions that were written less than this `TIME` ago"},
	}
}

func (e *env) planCommand() *cli.Command {
	return &cli.Command{
		Name: "plan", Usage: "list a store once and divide its sessions among shards", ArgsUsage: "STORE",
		Description: "Prints the run's address, which the other commands take.\n\n" + exitHelp,
		Flags:       append(append([]cli.Flag{&cli.IntFlag{Name: "shards", Value: 1, Usage: "make `N` shards; ten times as many as tasks that run at once is a good number"}}, planning()...), judging()...),
		Action: func(ctx context.Context, c *cli.Command) error {
			_, run, err := e.plan(ctx, c, c.Int("shards"))
			if err != nil {
				return err
			}
			fmt.Fprintln(e.out, run)
			return nil
		},
	}
}

// plan makes a plan as the flags say.
func (e *env) plan(ctx context.Context, c *cli.Command, shards int) (*plan.Plan, plan.Run, error) {
	address, err := operand(c, "the store to lint")
	if err != nil {
		return nil, plan.Run{}, err
	}
	if c.String("output") == "" {
		return nil, plan.Run{}, usage("--output is missing: the store that plans and rows are written to")
	}
	if shards < 1 || shards > 100_000 {
		return nil, plan.Run{}, usage("--shards is %d: want 1 to 100000", shards)
	}
	from, err := store.Open(address)
	if err != nil {
		return nil, plan.Run{}, usage("%w", err)
	}
	out, err := store.Open(c.String("output"))
	if err != nil {
		return nil, plan.Run{}, usage("--output: %w", err)
	}
	options := optionsOf(c)
	if _, err := work.NewLinter(from, "", "", options); err != nil {
		return nil, plan.Run{}, usage("%w", err)
	}
	p, run, err := plan.Make(ctx, plan.Request{
		Source: from, Out: out, Shards: shards, Options: options, Version: programVersion(), MinAge: c.Duration("min-age"),
		Previous: c.String("previous"), Now: time.Now(),
	})
	if err != nil {
		return nil, run, err
	}
	unchanged := ""
	if p.Previous != "" {
		unchanged = fmt.Sprintf(", %d unchanged since %s", p.Carried, p.Previous)
	}
	fmt.Fprintf(e.err, "%s to read (%d MB)%s, %d too young\n", count(p.Objects, "session", "sessions"), p.Bytes>>20, unchanged, p.Young)
	return p, run, nil
}
