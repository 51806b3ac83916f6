package cmd

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/agent/homes"
	"github.com/hist-cli/hist/internal/format"
	"github.com/hist-cli/hist/internal/glance"
	"github.com/hist-cli/hist/internal/inuse"
	"github.com/hist-cli/hist/internal/runs"
	"github.com/hist-cli/hist/internal/surgery"
	"github.com/hist-cli/hist/repair"
)

func moveCommand(e *env) *cli.Command {
	return &cli.Command{
		Name: "move", Usage: "make sessions follow a project that was renamed or moved", ArgsUsage: "--to DIR PATH|ID ... | --home DIR | --bundle FILE PATH|ID ... | FILE",
		Description: "Afterwards, the client finds the sessions in the new directory. Codex goes by two fields of the file, Claude Code by the\nfolder that it lies in. This is done in place, and hist undo takes it back. The history keeps the old paths, and the client tells the\nmodel the new one, unless --rewrite history changes every text. --home is for a home that was itself moved or copied.",
		Flags: withoutFlag("in-place", withoutFlag("output", operationFlags("",
			&cli.StringFlag{Name: "to", Usage: "the project's `DIR` now"},
			&cli.StringFlag{Name: "from", Usage: "its `DIR` before; by default, the one that each session names"},
			&cli.StringFlag{Name: "rewrite", Value: "fields", Usage: "change what names the directory, by `WHAT`: none, fields (by which the client finds the session), or history (every text)"},
			&cli.StringFlag{Name: "home", Usage: "this `DIR` is an agent's home that was moved or copied here: change what names its sessions' old places"},
			&cli.StringFlag{Name: "bundle", Usage: "write the sessions, with what lies beside them, to `FILE` for another machine; hist move FILE brings them into the home there"},
			&cli.BoolFlag{Name: "all", Usage: "all sessions of the directory --from, or below it", DisableDefaultText: true},
		))),
		OnUsageError: onUsageError, Action: e.move,
	}
}

func (e *env) move(c *cli.Context) error {
	if c.IsSet("home") {
		return e.moveHome(c)
	}
	if file := c.String("bundle"); file != "" {
		for _, flag := range []string{"to", "from", "rewrite", "all"} {
			if c.IsSet(flag) {
				return usage("--bundle writes the sessions as they are: give --%s on the other machine", flag)
			}
		}
		return e.bundle(c, file)
	}
	opts := surgery.MoveOptions{}
	var err error
	if opts.Rewrite, err = surgery.ParseRewrite(c.String("rewrite")); err != nil {
		return usage("%w", err)
	}
	bundled := c.NArg() == 1 && repair.IsBundle(c.Args().First())
	if c.String("to") != "" {
		if opts.To, err = filepath.Abs(c.String("to")); err != nil {
			return err
		}
	} else if !bundled {
		was, now := "OLD", "NEW"
		if c.NArg() == 2 {
			was, now = c.Args().Get(0), c.Args().Get(1)
		}
		return usage("move needs to know where the project is now: %s", format.Command("hist", "move", "--all", "--from", was, "--to", now))
	}
	if from := c.String("from"); from != "" {
		if opts.From, err = filepath.Abs(from); err != nil {
			return err
		}
	}
	if bundled {
		return e.unbundle(c, c.Args().First(), opts)
	}
	op := operation{name: "move", move: &opts}
	switch {
	case !c.Bool("all"):
	case opts.From == "":
		return usage("--all needs --from DIR: the directory whose sessions move")
	case c.NArg() > 0 || c.Bool("last"):
		return usage("--all is all sessions of --from; leave out the names")
	default:
		op.pick = func(list []target) []target { return worksIn(c.Context, list, &opts) }
	}
	if err := e.operate(c, op); err != nil {
		return err
	}
	return e.placed(c, opts)
}

// placed makes what else clients keep by a directory follow it: of the sessions that were named, or all of the directory.
func (e *env) placed(c *cli.Context, opts surgery.MoveOptions) error {
	type place struct {
		opts    surgery.MoveOptions
		threads []string
	}
	at := map[string][]place{}
	if c.Bool("all") {
		found, err := defaultHomes(c.String("agent"))
		if err != nil {
			return err
		}
		for _, h := range found {
			at[h.dir] = []place{{opts, nil}}
		}
	} else {
		list, err := e.named(c)
		if err != nil {
			return err
		}
		for _, t := range list {
			g, err := glance.Look(c.Context, t.path, glance.Options{})
			if err != nil {
				continue // it was told already
			}
			one := opts
			one.From = cmp.Or(one.From, g.CWD)
			at[t.home] = append(at[t.home], place{one, []string{g.Thread}})
		}
	}
	out := e.out
	if c.String("format") == "json" {
		out = e.err
	}
	run, err := runs.New(Version())
	if err != nil {
		return err
	}
	done := 0
	for home, places := range at {
		for _, p := range places {
			n, err := e.placedIn(c, out, run, home, p.opts, p.threads)
			if done += n; err != nil {
				return asInUse(errors.Join(err, run.Discard()))
			}
		}
	}
	if done == 0 || c.Bool("dry-run") {
		return run.Discard()
	}
	fmt.Fprintf(out, "undo of these: hist undo %s\n", run.Manifest.Run)
	return nil
}

// placedIn does so in one home, and returns how many files and folders were changed.
func (e *env) placedIn(c *cli.Context, out io.Writer, run *runs.Run, home string, opts surgery.MoveOptions, threads []string) (done int, err error) {
	for _, a := range all.Homed() {
		if a.Placed == nil || home == "" || a.Live(home) == "" {
			continue
		}
		for _, file := range a.Placed(home, opts.Moved, threads) {
			data, err := os.ReadFile(file.Path)
			if err != nil || bytes.Equal(file.Text(data), data) {
				continue
			}
			word := "would name"
			if !c.Bool("dry-run") {
				word = "names"
				if _, err := (repair.Store{Path: file.Path, Home: home, Text: file.Text}).Rewrite(c.Context, run); err != nil {
					return done, err
				}
			}
			done++
			fmt.Fprintf(out, "%s: %s the new directory\n", oneLine(file.Path), word)
		}
		if len(a.Beside) == 0 || len(threads) > 0 || c.Bool("dry-run") {
			continue
		}
		from, err := a.FolderFor(home, opts.From)
		if err != nil {
			continue // there is none
		}
		to, err := a.FolderFor(home, opts.To)
		if err != nil {
			return done, err
		}
		for _, name := range a.Beside {
			moved, err := repair.MoveFolder(c.Context, run, filepath.Join(from, name), filepath.Join(to, name), home)
			if err != nil {
				return done, err
			}
			if moved {
				done++
				fmt.Fprintf(out, "%s: moved to %s\n", oneLine(filepath.Join(from, name)), oneLine(filepath.Join(to, name)))
			}
		}
	}
	return done, nil
}

// moveHome makes a client find the sessions of a home that was moved or copied.
func (e *env) moveHome(c *cli.Context) error {
	for _, flag := range []string{"to", "from", "rewrite", "all", "last"} {
		if c.IsSet(flag) || c.NArg() > 0 {
			return usage("--home is for the whole home: leave out sessions and the other directories")
		}
	}
	dir, err := filepath.Abs(c.String("home"))
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(all.Homed(), func(h *agent.Agent) bool { return len(h.Sessions(dir)) > 0 }) {
		return usage("--home %s: no agent's home with sessions in it", c.String("home"))
	}
	path, change := homes.Open(c.Context, dir).Rehome()
	n := int64(0)
	store := repair.Store{Path: path, Home: dir, Database: func(ctx context.Context, tx *sql.Tx) (_ int64, err error) {
		n, err = change(ctx, tx)
		if c.Bool("dry-run") {
			return 0, err
		}
		return n, err
	}}
	var run *runs.Run
	if path != "" {
		if run, err = runs.New(Version()); err != nil {
			return err
		}
		if changed, err := store.Rewrite(c.Context, run); !changed {
			if err = errors.Join(err, run.Discard()); errors.Is(err, inuse.ErrBusy) {
				return &exitError{ExitInUse, err}
			} else if err != nil {
				return err
			}
		}
	}
	switch {
	case n == 0:
		fmt.Fprintf(e.out, "%s: nothing to gain: no list of it names a session elsewhere that lies in it now\n", oneLine(dir))
	case c.Bool("dry-run"):
		fmt.Fprintf(e.out, "%s: %s would be listed where they lie now\n  nothing was written (dry run)\n", oneLine(path), count(n, "session", "sessions"))
	default:
		fmt.Fprintf(e.out, "%s: %s listed where they lie now\nundo:   hist undo %s\n", oneLine(path), count(n, "session is", "sessions are"), run.Manifest.Run)
	}
	return nil
}

// worksIn are the sessions of a directory, and of those below it.
func worksIn(ctx context.Context, list []target, opts *surgery.MoveOptions) (in []target) {
	for _, t := range list {
		if g, err := glance.Look(ctx, t.path, glance.Options{}); t.err == nil && err == nil {
			if _, ok := opts.Moved(g.CWD); ok {
				in = append(in, t)
			}
		}
	}
	return in
}

// moveOne moves one session.
func (r *repairRun) moveOne(ctx context.Context, job repair.Job, t target, opts surgery.MoveOptions) (*repair.Report, error) {
	g, err := glance.Look(ctx, t.path, glance.Options{})
	if err != nil {
		return nil, err
	}
	if opts.From == "" {
		opts.From = g.CWD
	}
	switch {
	case all.Part(t.path):
		return nil, surgery.Usage("%s: it is a part of another session, and moves with that: name the session", t.path)
	case g.CWD == "":
		return nil, surgery.Refuse("%s: it names no directory that it works in", t.path)
	}
	to, ok := opts.Moved(g.CWD)
	if !ok {
		return nil, surgery.Usage("%s: the session's directory is %q, which is not below %s; --from names the directory that moved", t.path, g.CWD, opts.From)
	}
	if !isDir(to) {
		r.env.complain(fmt.Sprintf("note: there is no directory %s yet", to))
	}
	job.Operation = r.operationOf(func(s *surgery.Session, of surgery.Surgeon) (*surgery.Plan, error) { return of.Move(s, opts) })
	if g.Agent.Home == nil || g.Agent.FolderFor == nil {
		if job.Instead = repair.InPlace; job.Mode != repair.DryRun {
			job.Mode, job.Instead = repair.InPlace, 0
		}
		return repair.Do(ctx, job)
	}
	if t.home == "" {
		return nil, surgery.Refuse("%s: it lies in no home of its client, which finds it by its path wherever it is", t.path)
	}
	dir, err := g.Agent.FolderFor(t.home, to)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.path, err)
	}
	if dir == filepath.Dir(job.Source.Real) {
		job.Operation = r.operationOf(func(*surgery.Session, surgery.Surgeon) (*surgery.Plan, error) { return &surgery.Plan{}, nil })
		job.Mode, job.Instead = repair.DryRun, repair.InPlace
		return repair.Do(ctx, job)
	}
	return repair.Relocate(ctx, job, dir)
}
