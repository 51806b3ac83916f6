package cmd

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/hist-cli/hist/internal/disk"
	"github.com/hist-cli/hist/internal/format"
	"github.com/hist-cli/hist/internal/inspect"
	"github.com/hist-cli/hist/internal/runs"
	"github.com/hist-cli/hist/lint"
	"github.com/hist-cli/hist/repair"
)

func undoCommand(e *env) *cli.Command {
	return &cli.Command{
		Name: "undo", Usage: "undo a repair, a move or another change, byte for byte", ArgsUsage: "[RUN [SESSION ...]]",
		Description: "RUN is the id that repair printed, or its beginning; without it, the newest repair that has not been undone. If a session\nhas changed since the repair, nothing is undone; with SESSION, only these sessions of the run count.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "dry-run", Aliases: []string{"n"}, Usage: "change nothing, only say what would be done"},
			&cli.BoolFlag{Name: "json", Usage: "print one JSON object"},
		},
		Action: func(c *cli.Context) error {
			if slices.Contains(c.Args().Slice(), "") { // a script's variable is not set: that does not mean the newest run
				return errNoRun
			}
			return e.undo(c)
		},
	}
}

// runNamed is the run with an id that begins so; for "", the newest that can be undone.
func runNamed(id string) (*runs.Run, error) {
	run, err := runs.Load(id)
	if errors.Is(err, runs.ErrBadID) {
		return nil, usage("%w; hist runs lists them", err)
	}
	return run, err
}

// errNoRun is the error of an empty operand where a run must be named.
var errNoRun = usage("the run's id is empty; hist runs lists them")

func (e *env) undo(c *cli.Context) error {
	run, err := runNamed(c.Args().First())
	if err != nil {
		return err
	}
	only, err := onlySessions(run, c.Args().Tail())
	if err != nil {
		return err
	}
	claims := repair.Claims{HomeOf: homeOf, Dependants: inspect.DependantsOfMany()}
	undo := run.Undo
	if c.Bool("dry-run") {
		undo = run.Preview
	}
	done, err := undo(c.Context, claims, only...)
	if errors.Is(err, runs.ErrMovedOn) && len(only) == 0 && len(run.Manifest.Files) > 1 {
		err = fmt.Errorf("%w\nhist undo %s SESSION undoes one of its sessions", err, run.Manifest.Run)
	}
	if c.Bool("json") {
		return errors.Join(asInUse(err), e.undoneJSON(c, run.Manifest.Run, done))
	}
	for _, u := range done {
		words := undoneWords[u.Action].did
		if c.Bool("dry-run") {
			words = undoneWords[u.Action].would
		}
		fmt.Fprintf(e.out, "%s: %s\n", oneLine(u.Path), words)
		if u.Note != "" {
			fmt.Fprintf(e.out, "  %s\n", oneLine(u.Note))
		}
	}
	return asInUse(err)
}

// undoneWords say what an undo did to a file, and what it would do.
var undoneWords = map[string]struct{ did, would string }{
	runs.Restored: {"the original was restored", "the original would be restored"},
	runs.Removed:  {"the copy was removed", "the copy would be removed"},
	runs.Already:  {"nothing left to do", "nothing left to do"},
	runs.RowsBack: {"its rows in the client's database were restored; the session itself had not changed", "what its client's database held of it would come back"},
	runs.Kept:     {"its client has changed it since, so it was left as it is", "its client has changed it since, so it would be left as it is"},
}

// undoneFile is the documented form of a file that was undone.
type undoneFile struct {
	Path   string `json:"path"`
	Action string `json:"action"` // restored, removed, rows, already or kept
	Note   string `json:"note,omitempty"`
}

func (e *env) undoneJSON(c *cli.Context, run string, done []runs.Undone) error {
	out := struct {
		Schema string       `json:"schema"`
		Run    string       `json:"run"`
		DryRun bool         `json:"dry_run"`
		Files  []undoneFile `json:"files"`
		Next   []string     `json:"next,omitempty"`
	}{Schema: "hist.undo/1", Run: run, DryRun: c.Bool("dry-run"), Files: mapped(done, func(u runs.Undone) undoneFile { return undoneFile(u) })}
	if out.DryRun {
		out.Next = []string{"hist", "undo", run}
	}
	return format.Write(e.out, out)
}

// onlySessions says which files of a run are those of the named sessions: by a path, or by the id, or its beginning, of the repaired
// session or of its copy. It is empty if none is named.
func onlySessions(run *runs.Run, names []string) (only []func(*runs.File) bool, err error) {
	for _, name := range names {
		is := func(f *runs.File) bool {
			return slices.ContainsFunc([]string{f.Source, f.Target}, func(path string) bool {
				n := lint.NameOf(path, true)
				return path == absolute(name) || len(name) >= idBegin && (strings.HasPrefix(n.ThreadID, strings.ToLower(name)) || strings.HasPrefix(n.FileID, strings.ToLower(name))) || liesBeside(path, name)
			})
		}
		if !slices.ContainsFunc(run.Manifest.Files, func(f runs.File) bool { return is(&f) }) {
			return nil, usage("run %s repaired no session %q; hist runs show %s lists them", run.Manifest.Run, name, run.Manifest.Run)
		}
		only = append(only, is)
	}
	return only, nil
}

// liesBeside says whether a file lies in a folder that has the name of a session.
func liesBeside(path, name string) bool {
	for dir := filepath.Dir(path); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		base := filepath.Base(dir)
		if lint.NameOf(base+".jsonl", true).ThreadID != "" && (len(name) >= idBegin && strings.HasPrefix(base, strings.ToLower(name)) || absolute(name) == dir+".jsonl") {
			return true
		}
	}
	return false
}

// idBegin is how many digits of an id are enough.
const idBegin = 8

// asInUse gives the error about a file in use its exit code.
func asInUse(err error) error {
	if errors.Is(err, disk.ErrBusy) {
		return &exitError{ExitInUse, err}
	}
	return err
}
