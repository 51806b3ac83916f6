package repair

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/klauspost/compress/zstd"

	"github.com/hist-cli/hist/internal/codex"
	"github.com/hist-cli/hist/internal/codex/home"
	"github.com/hist-cli/hist/internal/publish"
	"github.com/hist-cli/hist/internal/runs"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/lint"
)

// Mode is where the repaired session goes.
type Mode uint8

// The modes.
const (
	NewThread Mode = iota // a copy beside the original, under a new thread id
	InPlace               // the file itself is replaced
	ToFile                // a copy at Job.Output, under the same id
	ToStream              // the same, written to Job.Stream
	DryRun                // nothing is written
)

var modeNames = [...]string{runs.NewThread, runs.InPlace, runs.Output, "stream", "dry-run"}

// String is the mode's name in a report.
func (m Mode) String() string { return modeNames[m] }

// ErrPartial: the session could not be read to its end, so no copy of it can be made.
var ErrPartial = errors.New("the session can't be read to its end")

// ErrDependants: other sessions point into the bytes that an in-place repair would move.
var ErrDependants = errors.New("other sessions point into this file")

// ErrForeign: the session belongs to another user, who would lose it by a repair in place.
var ErrForeign = errors.New("it belongs to another user: in place it would change hands, and it can't be told whether they use it; repair without --in-place makes a copy")

// Job is one session to repair.
type Job struct {
	Source  *source.Source
	Lint    lint.Options // Name and what is known beside the bytes; Mend is the job's
	Choice  Choice
	Mode    Mode
	Instead Mode      // DryRun: the mode that is tried
	Output  string    // ToFile: a path that does not exist yet
	Stream  io.Writer // ToStream
	Home    string    // the agent's home, for its locks; "" if the file lies in none
	// Begin opens the record of the run when something is going to be written; not called for DryRun and ToStream.
	Begin func() (*runs.Run, error)
}

// job is a Job in progress.
type job struct {
	Job
	found  *lint.Result
	plan   *Plan
	rw     *Rewrite
	copied *lint.Result
	notes  []string                          // what else was done, or left alone
	before func() (sha256 string, err error) // of the source's bytes
	thread string                            // id of the copy's thread
	target string
}

// Do repairs one session. With nothing to mend it writes nothing, except that ToFile and ToStream still copy the
// session byte for byte. After an error nothing is published and the source is as it was.
func Do(ctx context.Context, j Job) (*Report, error) {
	w := &job{Job: j}
	w.Lint.Mend = j.Choice.Allows
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	w.hashAside(ctx)
	if err := w.look(ctx); err != nil {
		return nil, err
	}
	if w.Mode == InPlace {
		release, err := w.lock()
		if err != nil {
			return nil, err
		}
		defer release()
	}
	switch {
	case w.Mode == DryRun:
		return w.dryRun(ctx)
	case w.Mode == ToStream:
		return w.stream(ctx)
	case w.plan.Empty() && w.plan.Reproject:
		return w.reproject(ctx)
	case w.plan.Empty() && w.Mode != ToFile:
		return w.report(nil), nil
	}
	return w.publish(ctx)
}

// hashAside begins to hash the source beside the first look at it, if a copy of it may be recorded.
func (w *job) hashAside(ctx context.Context) {
	if w.Source.Real == "" || w.Mode != NewThread && w.Mode != ToFile {
		return
	}
	type hashed struct {
		sha string
		err error
	}
	done := make(chan hashed, 1)
	go func() {
		sha, _, err := runs.Hash(ctx, w.Source.Real)
		done <- hashed{sha, err}
	}()
	w.before = sync.OnceValues(func() (string, error) {
		h := <-done
		return h.sha, h.err
	})
}

// look lints the session and plans its repair.
func (w *job) look(ctx context.Context) error {
	var err error
	if w.found, err = w.lint(ctx); err != nil {
		return err
	}
	if p := w.found.Summary.Partial; p != nil {
		return fmt.Errorf("%s: %w: %w", w.Source.Path, ErrPartial, p)
	}
	if err := w.lookBeside(ctx); err != nil {
		return fmt.Errorf("%s: %w", w.Source.Path, err)
	}
	if w.plan, err = Choose(w.found.Findings, w.Choice); err != nil {
		return fmt.Errorf("%s: %w", w.Source.Path, err)
	}
	if w.as() == InPlace || w.Mode == ToStream {
		w.plan.dropRenames()
	}
	w.thread = w.found.Summary.Header.ID
	if w.plan.Rename != "" {
		w.thread = w.plan.Rename
	} else if w.Lint.Name.ThreadID != "" {
		w.thread = w.Lint.Name.ThreadID
	}
	return nil
}

func (w *job) lint(ctx context.Context) (*lint.Result, error) {
	r, err := w.Source.Reader(ctx)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return lint.Session(ctx, r, w.Lint)
}

// dropRenames takes out of the plan what only a file of another name would mend.
func (p *Plan) dropRenames() {
	kept := p.Mend[:0:0]
	for _, f := range p.Mend {
		if f.Rename != "" {
			p.Rest = append(p.Rest, f)
			continue
		}
		kept = append(kept, f)
	}
	p.Mend, p.Rename = kept, ""
}

// newRewrite prepares one pass of the plan.
func (w *job) newRewrite(aside io.Writer) *Rewrite {
	rw := &Rewrite{Plan: w.plan, From: w.Source, Session: w.found.Summary.Header, Aside: aside, Evidence: w.evidence}
	if w.Mode == NewThread {
		old := w.found.Summary.Header
		rw.Header = func(line []byte) []byte { return codex.Reidentify(line, old, w.thread) }
	}
	w.rw = rw
	return rw
}

func (w *job) dryRun(ctx context.Context) (*Report, error) {
	rw := w.newRewrite(nil)
	rw.Header = nil
	pipe, done := w.verifyAhead(ctx)
	err := rw.Run(ctx, pipe)
	pipe.CloseWithError(err)
	res := <-done
	if err != nil {
		return nil, fmt.Errorf("%s: %w", w.Source.Path, err)
	}
	if res.err != nil {
		return nil, fmt.Errorf("%s: %w", w.Source.Path, res.err)
	}
	w.copied = res.result
	if err := nothingLeft(w.copied, w.Choice); err != nil && !w.plan.Empty() {
		return nil, fmt.Errorf("%s: %w", w.Source.Path, err)
	}
	if w.as() == InPlace {
		if err := w.checkDependants(ctx); err != nil {
			return nil, fmt.Errorf("%s: %w", w.Source.Path, err)
		}
	}
	return w.report(nil), nil
}

// as is the mode, or the one that a dry run tries.
func (w *job) as() Mode {
	if w.Mode == DryRun {
		return w.Instead
	}
	return w.Mode
}

type linted struct {
	result *lint.Result
	err    error
}

// verifyAhead lints what is written to the pipe, so that a dry run can tell what the copy would be without a file.
func (w *job) verifyAhead(ctx context.Context) (*io.PipeWriter, <-chan linted) {
	pr, pw := io.Pipe()
	done := make(chan linted, 1)
	go func() {
		res, err := lint.Session(ctx, pr, w.copyOptions())
		pr.CloseWithError(err)
		done <- linted{res, err}
	}()
	return pw, done
}

// copyOptions is how the copy is linted: like the source, under the name that it has.
func (w *job) copyOptions() lint.Options {
	opts := w.Lint
	switch w.Mode {
	case NewThread:
		if w.target != "" {
			opts.Name = NameOf(w.target, opts.Name.InHome)
		}
	case ToFile:
		opts.Name = NameOf(w.Output, false)
	}
	return opts
}

// NameOf reads a session file's name.
func NameOf(path string, inHome bool) lint.Name {
	n := lint.Name{Base: filepath.Base(path), InHome: inHome}
	if p, ok := home.ParseName(n.Base); ok {
		n.Canonical, n.ThreadID, n.Time = true, p.ThreadID, p.Time
	}
	return n
}

// stream spools the copy, verifies it and only then writes to the stream.
func (w *job) stream(ctx context.Context) (*Report, error) {
	spool, err := os.CreateTemp("", ".hist-*.tmp")
	if err != nil {
		return nil, fmt.Errorf("spooling the copy: %w", err)
	}
	defer os.Remove(spool.Name())
	defer spool.Close()
	if err := w.fill(ctx, spool, nil); err != nil {
		return nil, fmt.Errorf("%s: %w", w.Source.Path, err)
	}
	if err := w.verify(ctx, spool.Name(), false); err != nil {
		return nil, fmt.Errorf("%s: %w", w.Source.Path, err)
	}
	if _, err := spool.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	if _, err := io.Copy(w.Stream, spool); err != nil {
		return nil, fmt.Errorf("writing the repaired session: %w", err)
	}
	return w.report(nil), nil
}

// fill writes the copy, or the session as it is if nothing is to be mended.
func (w *job) fill(ctx context.Context, to io.Writer, aside io.Writer) error {
	if w.plan.Empty() {
		open := w.Source.Reader
		if w.Source.Compressed && strings.HasSuffix(w.target, ".zst") {
			open = w.Source.Raw
		}
		r, err := open(ctx)
		if err != nil {
			return err
		}
		defer r.Close()
		_, err = io.Copy(to, r)
		return err
	}
	return w.newRewrite(aside).Run(ctx, to)
}

// fillAs is fill, compressed or not.
func (w *job) fillAs(ctx context.Context, to io.Writer, aside io.Writer, compressed bool) error {
	if !compressed {
		return w.fill(ctx, to, aside)
	}
	enc, err := zstd.NewWriter(to)
	if err != nil {
		return err
	}
	if err := w.fill(ctx, enc, aside); err != nil {
		enc.Close()
		return err
	}
	return enc.Close()
}

// verify reads the copy back.
func (w *job) verify(ctx context.Context, path string, compressed bool) error {
	if w.plan.Empty() {
		w.copied = w.found
		return w.Source.Changed()
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	var r io.Reader = f
	if compressed {
		d, err := zstd.NewReader(f)
		if err != nil {
			return err
		}
		defer d.Close()
		r = d
	}
	if w.copied, err = Verify(ctx, r, w.rw.Proof, w.Choice, w.copyOptions()); err != nil {
		return err
	}
	return w.Source.Changed()
}

// lock makes sure that nobody else uses the session, and keeps the agent's own writers out.
func (w *job) lock() (release func(), err error) {
	if publish.Foreign(w.Source.Info) {
		return nil, fmt.Errorf("%s: %w", w.Source.Path, ErrForeign)
	}
	if publish.Names(w.Source.Info) > 1 {
		w.notes = append(w.notes, "the file has other names (hard links): they keep the session as it was")
	}
	id := w.lockedThread()
	busy, err := home.InUse(w.Source.Real, w.Home, id)
	if err == nil && busy != nil {
		err = busy
	}
	release = func() {}
	if err == nil && w.Home != "" && id != "" {
		release, err = home.Lock(w.Home, id)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", w.Source.Path, err)
	}
	return release, nil
}

// lockedThread is the thread whose lock a client of this session takes: the one that the file is named for, or the
// header's; "" if neither has an id.
func (w *job) lockedThread() string {
	name, _ := home.ParseName(filepath.Base(w.Source.Real))
	for _, id := range []string{name.ThreadID, w.found.Summary.Header.ID} {
		if home.IsID(id) {
			return id
		}
	}
	return ""
}

// publish writes the copy where the mode wants it, with a record of the run.
func (w *job) publish(ctx context.Context) (*Report, error) {
	t, err := w.place()
	if err != nil {
		return nil, err
	}
	if _, err := publish.Sweep(filepath.Dir(t.Path)); err != nil && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if w.Source.Real == "" { // a stream has no original to go back to
		err := publish.Write(ctx, t, func(to io.Writer) error { return w.fill(ctx, to, nil) }, func(tmp string) error { return w.verify(ctx, tmp, false) })
		rep := w.report(nil)
		rep.Target = t.Path
		return rep, err
	}
	run, err := w.Begin()
	if err != nil {
		return nil, err
	}
	rep, err := w.into(ctx, run, t)
	if err != nil && !errors.Is(err, publish.ErrPublished) {
		return nil, errors.Join(fmt.Errorf("%s: %w", w.Source.Path, err), discard(run))
	}
	return rep, err
}

// discard throws the run away unless other files hang on it.
func discard(run *runs.Run) error {
	if err := run.Discard(); err != nil && !errors.Is(err, runs.ErrKept) {
		return err
	}
	return nil
}

// place says where the copy goes.
func (w *job) place() (publish.Target, error) {
	t := publish.Target{Mode: w.Source.Info.Mode().Perm(), Owner: w.Source.Info}
	switch w.Mode {
	case InPlace:
		t.Path, t.Replace, t.ModTime = w.Source.Real, true, w.Source.Info.ModTime()
	case ToFile:
		if w.Source.Real != "" {
			same, err := publish.SameFile(w.Source.Real, w.Output)
			if err != nil {
				return t, err
			}
			if same {
				return t, fmt.Errorf("%s: %w: to replace the session itself use --in-place", w.Output, publish.ErrSame)
			}
		}
		var err error
		if t.Path, err = filepath.Abs(w.Output); err != nil {
			return t, err
		}
	case NewThread:
		id, err := uuid.NewV7()
		if err != nil {
			return t, err
		}
		w.thread = id.String()
		now := time.Now()
		dir := filepath.Dir(w.Source.Real)
		if w.Home != "" && archived(dir, w.Home) {
			// The client does not resume from the archive.
			dir = filepath.Join(w.Home, "sessions", now.Format("2006"), now.Format("01"), now.Format("02"))
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return t, err
			}
		}
		t.Path = filepath.Join(dir, home.Name(now, w.thread))
		t.Mode |= 0o200 // its client goes on writing it
	}
	w.target = t.Path
	return t, nil
}

// archived says whether a directory, by its real name, lies in the archive of a home.
func archived(dir, homeDir string) bool {
	archive, err := filepath.EvalSymlinks(filepath.Join(homeDir, "archived_sessions"))
	if err != nil {
		return false
	}
	rel, err := filepath.Rel(archive, dir)
	return err == nil && filepath.IsLocal(rel)
}

// into writes and records one copy.
func (w *job) into(ctx context.Context, run *runs.Run, t publish.Target) (*Report, error) {
	f := runs.File{
		Source: w.Source.Real, Target: t.Path, Mode: w.Mode.String(),
		SizeBefore: w.Source.Info.Size(), ModTimeBefore: w.Source.Info.ModTime(), Home: w.Home,
	}
	var err error
	if w.Mode == InPlace {
		f.Backup, f.SHA256Before, err = run.Backup(ctx, w.Source.Real)
	} else {
		f.SHA256Before, err = w.before()
	}
	if err != nil {
		return nil, err
	}
	aside, rel, err := run.SetAside(filepath.Base(w.Source.Real) + ".set-aside")
	if err != nil {
		return nil, err
	}
	defer aside.Close()
	f.SetAside = rel
	compressed := strings.HasSuffix(t.Path, ".zst") && !(w.plan.Empty() && w.Source.Compressed)
	var guard *home.Guard
	defer func() { guard.Release() }()
	fill := func(to io.Writer) error {
		if err := w.fillAs(ctx, to, aside, compressed); err != nil {
			return err
		}
		if w.rw != nil {
			f.DiffersFrom = w.rw.moved()
		}
		return nil
	}
	check := func(tmp string) error {
		if err := aside.Close(); err != nil {
			return err
		}
		if err := w.verify(ctx, tmp, compressed); err != nil {
			return err
		}
		if w.Mode != InPlace {
			return nil
		}
		if err := w.checkDependants(ctx); err != nil {
			return err
		}
		guard, err = w.settleView(ctx)
		return err
	}
	err = run.Publish(ctx, &f, t, fill, check)
	if err != nil && !errors.Is(err, publish.ErrPublished) {
		return nil, err
	}
	if w.Mode == InPlace && compressed {
		w.notes = append(w.notes, "the session stays compressed; its client unpacks it at the next resume")
	}
	rep := w.report(run)
	if kept := rep.keep(run, filepath.Base(w.Source.Real)); kept != nil {
		rep.Notes = append(rep.Notes, "the session was repaired, but this report could not be kept: "+kept.Error())
	}
	return rep, err
}
