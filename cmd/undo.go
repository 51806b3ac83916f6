package cmd

import (
	"errors"
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/hist-cli/hist/internal/agent/homes"
	"github.com/hist-cli/hist/internal/format"
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
			&cli.BoolFlag{Name: "json", Usage: "print one JSON object", DisableDefaultText: true},
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
	undo, says := run.Undo, undoneWords
	if c.Bool("dry-run") {
		undo, says = run.Preview, wouldUndoWords
	}
	done, err := undo(c.Context, claims)
	if c.Bool("json") {
		return errors.Join(asInUse(err), e.undoneJSON(c, run.Manifest.Run, done))
	}
	for _, u := range done {
		fmt.Fprintf(e.out, "%s: %s\n", oneLine(u.Path), says[u.Action])
		if u.Note != "" {
			fmt.Fprintf(e.out, "  %s\n", oneLine(u.Note))
		}
	}
	return asInUse(err)
}

var undoneWords = map[string]string{
	runs.Restored: "the original was restored", runs.Removed: "the copy was removed", runs.Already: "nothing left to do",
	runs.RowsBack: "its rows in the client's database were restored; the session itself had not changed",
}

var wouldUndoWords = map[string]string{
	runs.Restored: "the original would be restored", runs.Removed: "the copy would be removed", runs.Already: "nothing left to do",
	runs.RowsBack: "what its client's database held of it would come back",
}

// undoneFile is the documented form of a file that was undone.
type undoneFile struct {
	Path   string `json:"path"`
	Action string `json:"action"` // restored, removed, rows or already
	Note   string `json:"note,omitempty"`
}

func (e *env) undoneJSON(c *cli.Context, run string, done []runs.Undone) error {
	out := struct {
		Schema string       `json:"schema"`
		Run    string       `json:"run"`
		DryRun bool         `json:"dry_run"`
		Files  []undoneFile `json:"files"`
		Next   []string     `json:"next,omitempty"`
	}{Schema: "hist.undo/1", Run: run, DryRun: c.Bool("dry-run"), Files: []undoneFile{}}
	for _, u := range done {
		out.Files = append(out.Files, undoneFile(u))
	}
	if out.DryRun {
		out.Next = []string{"hist", "undo", run}
	}
	return format.Write(e.out, out)
}

// asInUse gives the error about a file in use its exit code.
func asInUse(err error) error {
	if errors.Is(err, inuse.ErrBusy) {
		return &exitError{ExitInUse, err}
	}
	return err
}
