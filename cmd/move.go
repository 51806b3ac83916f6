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
	"github.com/hist-cli/hist/internal/disk"
	"github.com/hist-cli/hist/internal/format"
	"github.com/hist-cli/hist/internal/inspect"
	"github.com/hist-cli/hist/internal/publish"
	"github.com/hist-cli/hist/internal/runs"
	"github.com/hist-cli/hist/internal/surgery"
	"github.com/hist-cli/hist/internal/timeline"
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
			&cli.BoolFlag{Name: "all", Usage: "all sessions of the directory --from, or below it"},
		))),
		Action: e.move,
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
	switch to := c.String("to"); {
	case to == "DIRECTORY":
		return usage("--to DIRECTORY stands for where the project is now; put that in its place")
	case to != "":
		if opts.To, err = filepath.Abs(to); err != nil {
			return err
		}
	case !bundled:
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
	if !c.Bool("dry-run") {
		half, err := repair.TakeBackMoves(c.Context)
		for _, path := range half {
			e.complain("note: a move of " + path + " had been cut off; it was taken back")
		}
		if err != nil {
			return asInUse(err)
		}
	}
	at, err := e.places(c, opts)
	if err != nil {
		return err
	}
	op.beside = func(r *repairRun) error { return r.placed(at) }
	return e.operate(c, op)
}

// relocation is what moves in a home: some sessions, or all.
type relocation struct {
	home    string
	opts    surgery.MoveOptions
	threads []string
}

// places are what moves, as it is before it has moved.
func (e *env) places(c *cli.Context, opts surgery.MoveOptions) (at []relocation, err error) {
	if c.Bool("all") {
		found, err := defaultHomes(c.String("agent"))
		return mapped(found, func(h agentHome) relocation { return relocation{h.dir, opts, nil} }), err
	}
	list, err := e.named(c)
	for _, t := range list {
		g, err := timeline.Look(c.Context, t.path, timeline.LookOptions{})
		if err != nil || t.home == "" {
			continue // that it can't be read is told when it is to move; of a session in no home its client keeps nothing elsewhere
		}
		one := opts
		one.From = cmp.Or(one.From, g.CWD)
		at = append(at, relocation{t.home, one, []string{g.Thread}})
	}
	return at, err
}

// moved is where a directory of the place is now. Of a session that names the new directory itself, all that stands elsewhere goes there.
func (p *relocation) moved(dir string) (string, bool) {
	if p.opts.From == p.opts.To {
		_, there := p.opts.Moved(dir)
		return p.opts.To, !there
	}
	return p.opts.Moved(dir)
}

// placed makes what else clients keep by a directory follow it: of the sessions that were named, or all of the directory.
func (r *repairRun) placed(at []relocation) error {
	for _, p := range at {
		for _, a := range all.Homed() {
			if a.Placed == nil || a.Live(p.home) == "" {
				continue
			}
			if err := r.renamed(p.home, a.Placed(p.home, p.moved, p.threads)); err != nil {
				return err
			}
			if len(p.threads) == 0 && !r.c.Bool("dry-run") {
				if err := r.besideMoved(a, p.home, p.opts); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// renamed rewrites files of a home that name a directory.
func (r *repairRun) renamed(home string, files []agent.Placed) error {
	for _, file := range files {
		data, err := os.ReadFile(file.Path)
		if err != nil || bytes.Equal(file.Text(data), data) {
			continue
		}
		word := "would name"
		if !r.c.Bool("dry-run") {
			word = "names"
			if err := r.recorded(func(run *runs.Run) error {
				_, err := repair.Store{Path: file.Path, Home: home, Text: file.Text, Common: true}.Rewrite(r.c.Context, run)
				return err
			}); err != nil {
				return err
			}
		}
		fmt.Fprintf(r.told(), "%s: %s the new directory\n", oneLine(file.Path), word)
	}
	return nil
}

// besideMoved moves what an agent keeps beside the sessions of a directory.
func (r *repairRun) besideMoved(a *agent.Agent, home string, opts surgery.MoveOptions) error {
	if len(a.Beside) == 0 {
		return nil
	}
	from, err := a.FolderFor(home, opts.From)
	if err != nil {
		return nil // there is none
	}
	to, err := a.FolderFor(home, opts.To)
	if err != nil {
		return err
	}
	for _, name := range a.Beside {
		moved := false
		if err := r.recorded(func(run *runs.Run) (err error) {
			moved, err = repair.MoveFolder(r.c.Context, run, filepath.Join(from, name), filepath.Join(to, name), home)
			return err
		}); err != nil {
			return err
		}
		if moved {
			fmt.Fprintf(r.told(), "%s: moved to %s\n", oneLine(filepath.Join(from, name)), oneLine(filepath.Join(to, name)))
		}
	}
	return nil
}

// told is where the run says what it does: not among what it answers in JSON.
func (r *repairRun) told() io.Writer {
	if r.print.json {
		return r.env.err
	}
	return r.print.w
}

// recorded does something with the record of the run, which goes again if it holds nothing then.
func (r *repairRun) recorded(do func(run *runs.Run) error) error {
	run, err := r.begin()
	if err != nil {
		return err
	}
	if err = do(run); len(run.Manifest.Files) == 0 {
		err = errors.Join(err, run.Discard())
	}
	return err
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
	path, change := inspect.OpenHome(c.Context, dir).Rehome()
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
			if err = errors.Join(err, run.Discard()); errors.Is(err, disk.ErrBusy) {
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
		if g, err := timeline.Look(ctx, t.path, timeline.LookOptions{}); t.err == nil && err == nil {
			if _, ok := opts.Moved(g.CWD); ok {
				in = append(in, t)
			}
		}
	}
	return in
}

func (r *repairRun) moveOne(ctx context.Context, job repair.Job, t target, opts surgery.MoveOptions) (*repair.Report, error) {
	g, err := timeline.Look(ctx, t.path, timeline.LookOptions{})
	if err != nil {
		return nil, err
	}
	opts.From = cmp.Or(opts.From, g.CWD)
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
	if !disk.IsDir(to) {
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
	if info, err := os.Lstat(t.path); err == nil && info.Mode()&os.ModeSymlink != 0 {
		return nil, surgery.Refuse("%s: it is a link to %s, and its client goes by where the link lies: move that to %s yourself", t.path, job.Source.Real, dir)
	}
	if same, err := publish.SameFile(dir, filepath.Dir(job.Source.Real)); err == nil && same {
		job.Operation = r.operationOf(func(*surgery.Session, surgery.Surgeon) (*surgery.Plan, error) { return &surgery.Plan{}, nil })
		job.Mode, job.Instead = repair.DryRun, repair.InPlace
		return repair.Do(ctx, job)
	}
	return repair.Relocate(ctx, job, dir)
}
