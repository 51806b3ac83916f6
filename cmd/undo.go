package cmd

import (
	"errors"
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/hist-cli/hist/internal/agent/homes"
	"github.com/hist-cli/hist/internal/inuse"
	"github.com/hist-cli/hist/internal/runs"
	"github.com/hist-cli/hist/repair"
)

func undoCommand(e *env) *cli.Command {
	return &cli.Command{
		Name: "undo", Usage: "undo a repair, byte for byte", ArgsUsage: "[RUN]",
		Description: "RUN is the id that repair printed, or its beginning; without it, the newest repair that can still be\nundone is. If a session has changed since the repair, nothing is undone.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "dry-run", Aliases: []string{"n"}, Usage: "change nothing, only say what would be done", DisableDefaultText: true},
		},
		OnUsageError: onUsageError,
		Action: func(c *cli.Context) error {
			if c.NArg() > 1 {
				return usage("undo takes one run at a time")
			}
			if slices.Contains(c.Args().Slice(), "") { // a script's variable is not set: that does not mean the newest run
				return errNoRun
			}
			return e.undo(c)
		},
	}
}

// errNoRun is the error of an empty operand where a run must be named.
var errNoRun = usage("the run's id is empty; hist runs lists them")

func (e *env) undo(c *cli.Context) error {
	run, err := runs.Load(c.Args().First())
	if err != nil {
		if errors.Is(err, runs.ErrBadID) {
			return usage("%w; hist runs lists them", err)
		}
		return err
	}
	claims := repair.Claims{HomeOf: homeOf, Dependants: homes.DependantsOfMany()}
	if c.Bool("dry-run") {
		would, err := run.Preview(c.Context, claims)
		for _, u := range would {
			fmt.Fprintf(e.out, "%s: %s\n", oneLine(u.Path), map[string]string{
				runs.Restored: "the original would be restored", runs.Removed: "the copy would be removed", runs.Already: "nothing left to do",
				runs.RowsBack: "what its client's database held of it would come back",
			}[u.Action])
		}
		return asInUse(err)
	}
	done, err := run.Undo(c.Context, claims)
	for _, u := range done {
		fmt.Fprintf(e.out, "%s: %s\n", oneLine(u.Path), map[string]string{
			runs.Restored: "the original was restored", runs.Removed: "the copy was removed", runs.Already: "nothing left to do",
			runs.RowsBack: "its rows in the client's database were restored; the session itself had not changed",
		}[u.Action])
		if u.Note != "" {
			fmt.Fprintf(e.out, "  %s\n", oneLine(u.Note))
		}
	}
	return asInUse(err)
}

// asInUse gives the error about a file in use its exit code.
func asInUse(err error) error {
	if errors.Is(err, inuse.ErrBusy) {
		return &exitError{ExitInUse, err}
	}
	return err
}
