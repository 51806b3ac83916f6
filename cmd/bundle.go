package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/disk"
	"github.com/hist-cli/hist/internal/publish"
	"github.com/hist-cli/hist/internal/runs"
	"github.com/hist-cli/hist/internal/surgery"
	"github.com/hist-cli/hist/internal/timeline"
	"github.com/hist-cli/hist/lint"
	"github.com/hist-cli/hist/repair"
)

// bundle writes sessions, with what their client keeps of them, into one file for another machine.
func (e *env) bundle(c *cli.Context, file string) error {
	list, err := e.named(c)
	if err != nil {
		return err
	}
	if c.NArg() == 0 && !c.Bool("last") {
		return usage("--bundle needs sessions: files, or ids")
	}
	p := &packing{env: e, c: c}
	for _, t := range list {
		if err := p.add(t); err != nil {
			return asInUse(err)
		}
	}
	threads, lists := mapped(p.Sessions, func(s repair.Bundled) string { return s.Thread }), map[string][]byte{}
	for _, path := range p.agent.Lists(p.home) {
		data, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if lines := repair.LinesAbout(data, threads); len(lines) > 0 {
			rel := filepath.ToSlash(strings.TrimPrefix(path, p.home+string(filepath.Separator)))
			p.Lists, lists[rel] = append(p.Lists, rel), lines
		}
	}
	what := fmt.Sprintf("%s, and %s beside them", count(len(p.Sessions), "session", "sessions"), count(len(p.Files)+len(p.Lists), "file", "files"))
	if c.Bool("dry-run") {
		fmt.Fprintf(e.out, "%s: would hold %s\n  nothing was written (dry run)\n", oneLine(file), what)
		return nil
	}
	err = publish.Write(c.Context, publish.Target{Path: absolute(file), Mode: 0o600}, func(w io.Writer) error {
		return repair.WriteBundle(c.Context, w, p.home, p.Bundle, lists)
	}, publish.Checks{})
	if err != nil && !errors.Is(err, publish.ErrPublished) {
		return err
	}
	fmt.Fprintf(e.out, "%s: %s\n  on the other machine: hist move %s\n", oneLine(file), what, oneLine(filepath.Base(file)))
	return nil
}

// packing is a bundle while it is put together.
type packing struct {
	repair.Bundle
	*env
	c     *cli.Context
	agent *agent.Agent
	home  string
}

// add adds a session, what lies beside it, and the sessions that it goes on from.
func (p *packing) add(t target) error {
	s, err := p.readSession(p.c, t, true)
	if err != nil {
		return err
	}
	a := s.Agent
	switch {
	case a.Home == nil || t.home == "":
		return surgery.Refuse("%s: it lies in no home of its client: copy the file itself", t.path)
	case p.agent != nil && (p.agent.Name != a.Name || p.home != absolute(t.home)):
		return usage("a bundle holds the sessions of one home; make one for each")
	}
	p.agent, p.home, p.Agent = a, absolute(t.home), a.Name
	if err := unused(t, s.Info.ID); err != nil {
		return err
	}
	if err := p.session(t.path, false); err != nil {
		return err
	}
	for _, path := range besideSession(t) {
		rel, err := filepath.Rel(p.home, absolute(path))
		if err != nil {
			return err
		}
		p.Files = append(p.Files, filepath.ToSlash(rel))
	}
	for id := s.Info.BaseThread; id != ""; {
		paths, err := a.Find(p.c.Context, p.home, id)
		if err != nil {
			return fmt.Errorf("%s: it goes on from a session that is not there: %w", t.path, err)
		}
		if err := p.session(paths[0], true); err != nil {
			return err
		}
		g, err := timeline.Look(p.c.Context, paths[0], timeline.LookOptions{})
		if err != nil {
			return err
		}
		id = g.Header.BaseThread
	}
	return nil
}

func (p *packing) session(path string, base bool) error {
	g, err := timeline.Look(p.c.Context, path, timeline.LookOptions{})
	if err != nil {
		return err
	}
	rel, err := filepath.Rel(p.home, absolute(path))
	if err != nil {
		return err
	}
	if rel = filepath.ToSlash(rel); !slices.ContainsFunc(p.Sessions, func(s repair.Bundled) bool { return s.Path == rel }) {
		p.Sessions = append(p.Sessions, repair.Bundled{Thread: g.Thread, Path: rel, CWD: g.CWD, Base: base})
	}
	return nil
}

// unbundle brings the sessions of a bundle into the home of their client. What is there already gets what the bundle has more.
func (e *env) unbundle(c *cli.Context, file string, opts surgery.MoveOptions) error {
	u := &unpacking{env: e, ctx: c.Context, opts: opts, dry: c.Bool("dry-run"), moved: map[string]string{}}
	in := ""
	var err error
	if !u.dry { // an undo asks for what each file is a copy of
		if u.run, err = runs.New(Version()); err != nil {
			return err
		}
		in = u.run.Path()
	}
	if u.dir, err = os.MkdirTemp(in, "bundle-"); err != nil {
		return err
	}
	err = u.into(file)
	if u.run != nil && len(u.run.Manifest.Files) > 0 {
		fmt.Fprintf(e.out, "undo:   hist undo %s\n", u.run.Manifest.Run)
	} else if err = errors.Join(err, os.RemoveAll(u.dir)); u.run != nil {
		err = errors.Join(err, u.run.Discard())
	}
	if code := codeOfOperation(err); code != 0 {
		return &exitError{code, err}
	}
	return asInUse(err)
}

// into unpacks a bundle, and brings it into the home of its agent.
func (u *unpacking) into(file string) error {
	b, err := repair.ReadBundle(u.ctx, file, u.dir)
	if err != nil {
		return err
	}
	if u.agent = all.Named(b.Agent); u.agent == nil || u.agent.Home == nil {
		return fmt.Errorf("%s: it holds sessions of %q, which this version does not know", file, b.Agent)
	}
	if u.home, err = u.agent.DefaultHome(); err != nil {
		return err
	}
	return u.all(b)
}

// unpacking is a bundle on its way into a home.
type unpacking struct {
	*env
	ctx       context.Context
	agent     *agent.Agent
	home, dir string
	opts      surgery.MoveOptions
	run       *runs.Run
	dry       bool
	moved     map[string]string // folders of the bundle, and where in the home what lies in them goes
}

func (u *unpacking) all(b *repair.Bundle) error {
	for _, s := range slices.Backward(b.Sessions) { // what others go on from comes behind them
		if err := u.session(s); err != nil {
			return err
		}
	}
	for _, rel := range b.Files {
		to := filepath.Join(u.home, filepath.FromSlash(rel))
		for from, folder := range u.moved {
			if rest, in := strings.CutPrefix(rel, from+"/"); in {
				to = filepath.Join(folder, filepath.FromSlash(rest))
			}
		}
		if err := u.bring(filepath.Join(u.dir, filepath.FromSlash(rel)), to); err != nil {
			return err
		}
	}
	for _, rel := range b.Lists {
		if err := u.list(b, rel); err != nil {
			return err
		}
	}
	return nil
}

func (u *unpacking) bring(from, to string) error {
	if u.dry {
		return nil
	}
	there, err := repair.Bring(u.ctx, u.run, from, to, u.home)
	if err == nil && !there {
		fmt.Fprintf(u.out, "%s: it is there already, and stays as it is\n", oneLine(to))
	}
	return err
}

// cwd is the directory that a session works in here.
func (u *unpacking) cwd(s repair.Bundled) (opts surgery.MoveOptions, dir string) {
	opts = u.opts
	if opts.To == "" {
		return opts, s.CWD
	}
	opts.From = cmp.Or(opts.From, s.CWD)
	dir, _ = opts.Moved(s.CWD)
	return opts, dir
}

func (u *unpacking) session(s repair.Bundled) error {
	from, to := filepath.Join(u.dir, filepath.FromSlash(s.Path)), filepath.Join(u.home, filepath.FromSlash(s.Path))
	opts, dir := u.cwd(s)
	if u.agent.FolderFor != nil && dir != "" {
		folder, err := u.agent.FolderFor(u.home, dir)
		if err != nil {
			return err
		}
		to = filepath.Join(folder, filepath.Base(from))
	}
	trim := func(path string) string { return strings.TrimSuffix(path, filepath.Ext(path)) }
	u.moved[trim(s.Path)] = trim(to)
	there, err := u.agent.Find(u.ctx, u.home, s.Thread)
	if err != nil && !errors.Is(err, agent.ErrNoSession) {
		return err
	}
	if s.Base {
		if len(there) > 0 {
			return nil
		}
		return u.bring(from, to)
	}
	job := repair.Job{Path: from, Mode: repair.ToFile, Output: to, Home: u.home, Begin: func() (*runs.Run, error) { return u.run, nil }}
	job.Operation = operation{name: "move", plan: func(got *surgery.Session, of surgery.Surgeon) (*surgery.Plan, error) {
		if opts.To == "" {
			return &surgery.Plan{}, nil
		}
		return of.Move(got, opts)
	}}.on()
	if len(there) > 0 {
		if job, err = u.joined(job, there[0]); err != nil {
			return err
		}
	}
	if u.dry {
		job.Mode, job.Instead = repair.DryRun, job.Mode
	} else if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	rep, err := repair.Do(u.ctx, job)
	if rep == nil {
		return err
	}
	path := cmp.Or(rep.Target, job.Output, job.Path)
	done := "written"
	switch {
	case u.dry:
		done = "would be written (dry run)"
	case job.Mode == repair.InPlace && rep.Run == "":
		done = "nothing to gain: it is there already, with all that the bundle has"
	case job.Mode == repair.InPlace:
		done = "was there; it got what the bundle has more"
	}
	fmt.Fprintf(u.out, "%s: %s\n", oneLine(path), done)
	if resume := u.agent.Resume(s.Thread); resume != nil && !u.dry {
		fmt.Fprintf(u.out, "resume: %s\n", resumeOf(u.ctx, path, resume))
	}
	if dir != "" && !disk.IsDir(dir) {
		u.complain(fmt.Sprintf("note: there is no directory %s here; hist move --to DIR %s names another one", dir, s.Thread))
	}
	return err
}

// joined adds what the bundle's session has to the one that is there.
func (u *unpacking) joined(job repair.Job, there string) (repair.Job, error) {
	copied := filepath.Join(u.dir, "moved", filepath.Base(job.Path))
	if err := os.MkdirAll(filepath.Dir(copied), 0o700); err != nil {
		return job, err
	}
	f, err := os.Create(copied)
	if err != nil {
		return job, err
	}
	job.Mode, job.Stream = repair.ToStream, f
	_, err = repair.Do(u.ctx, job)
	if err = errors.Join(err, f.Close()); err != nil {
		return job, err
	}
	src, err := u.open(copied)
	if err != nil {
		return job, err
	}
	defer src.Close()
	other, err := repair.ReadSession(u.ctx, src, lint.Options{Name: lint.NameOf(copied, true)}, u.home, true)
	if err != nil {
		return job, err
	}
	if err := unused(target{path: there, home: u.home}, lint.NameOf(there, true).ThreadID); err != nil {
		return job, err
	}
	job.Path, job.Mode, job.Stream, job.Output = there, repair.InPlace, nil, ""
	job.Operation = operation{name: "join", plan: func(s *surgery.Session, _ surgery.Surgeon) (*surgery.Plan, error) {
		return surgery.Join(s, other, surgery.TakeNone)
	}}.on()
	return job, nil
}

// list adds the lines of a client's list that it lacks.
func (u *unpacking) list(b *repair.Bundle, rel string) error {
	from, to := filepath.Join(u.dir, filepath.FromSlash(rel)), filepath.Join(u.home, filepath.FromSlash(rel))
	lines, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if u.agent.Placed != nil && u.opts.To != "" {
		for _, s := range b.Sessions {
			opts, _ := u.cwd(s)
			for _, list := range u.agent.Placed(u.home, opts.Moved, []string{s.Thread}) {
				if list.Path == to {
					lines = list.Text(lines)
				}
			}
		}
	}
	if u.dry {
		return nil
	}
	if _, err := os.Stat(to); errors.Is(err, fs.ErrNotExist) {
		if err := os.WriteFile(from, lines, 0o600); err != nil {
			return err
		}
		return u.bring(from, to)
	}
	_, err = repair.Store{Path: to, Home: u.home, Text: func(data []byte) []byte { return append(data, repair.MissingLines(data, lines)...) }}.Rewrite(u.ctx, u.run)
	return err
}
