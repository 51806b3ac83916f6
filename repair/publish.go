package repair

import (
	"cmp"
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

	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/disk"
	"github.com/hist-cli/hist/internal/publish"
	"github.com/hist-cli/hist/internal/runs"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/lint"
)

// fill writes the copy, or the session as it is if there is nothing to mend.
func (w *job) fill(ctx context.Context, to io.Writer, aside io.Writer) error {
	if w.plan.Empty() {
		w.hashSource(ctx, source.NewSum(), 0)
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
	return w.rewrite(ctx, to, aside)
}

// rewrite writes the mended session, in one pass or in as many as were found to be needed.
func (w *job) rewrite(ctx context.Context, to, aside io.Writer) (err error) {
	if w.passes != nil {
		w.hashSource(ctx, source.NewSum(), 0)
		w.made, err = w.passes.write(ctx, w.Source, to, aside)
		return err
	}
	rw := w.newRewrite(aside)
	rw.Differs = func(same *source.Sum, size int64) { w.hashSource(ctx, same, size) }
	return rw.Run(ctx, to)
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
	if w.copied, err = readBack(ctx, r, w.made, w.copyOptions()); err != nil {
		return err
	}
	err = w.accept(ctx, func() ([]byte, error) {
		makeRoom(&w.copied.Summary)
		text, err := os.ReadFile(path)
		if err == nil && compressed {
			text, err = unpacked(text)
		}
		return text, err
	})
	if err != nil {
		return err
	}
	return w.Source.Changed()
}

// lock makes sure that nobody else uses the session, and takes the agent's lock to keep its writers out.
func (w *job) lock() (release func(), err error) {
	if publish.Foreign(w.Source.Info) {
		return nil, fmt.Errorf("%s: %w", w.Source.Path, ErrForeign)
	}
	if publish.Names(w.Source.Info) > 1 {
		w.notes = append(w.notes, "the file has other names (hard links): they keep the session as it was")
	}
	if w.agent.Home != nil && w.agent.Due != nil && w.Mode == InPlace {
		if words := w.agent.Due(w.Source.Real); words != "" {
			w.notes = append(w.notes, words+"; its time stays as it was: resume it, or copy it away")
		}
	}
	id := w.lockedThread()
	busy, err := all.InUse(w.Source.Real, w.Home, id)
	if err == nil && busy != nil {
		err = busy
	}
	if err == nil {
		release, err = all.Lock(w.Source.Real, w.Home, id)
	}
	if err != nil {
		return nil, w.named(err)
	}
	return release, nil
}

// lockedThread is the thread whose lock a client of this session takes: the one in the file's name, or the header's; "" if
// neither has an id.
func (w *job) lockedThread() string {
	for _, id := range []string{lint.NameOf(w.Source.Real, true).ThreadID, w.found.Summary.Header.ID} {
		if id != "" && w.agent.Resume(id) != nil { // otherwise no client accepts the id
			return id
		}
	}
	return ""
}

// publish writes the copy to where the mode wants it, with a record of the run.
func (w *job) publish(ctx context.Context) (*Report, error) {
	if rep, err := w.earlierCopy(ctx); rep != nil || err != nil {
		return rep, err
	}
	t, err := w.place()
	if err != nil {
		return nil, err
	}
	if _, err := publish.Sweep(filepath.Dir(t.Path)); err != nil && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if w.Source.Real == "" { // a stream has no original to go back to
		err := w.attempt(ctx, filepath.Dir(t.Path), func() error {
			return publish.Write(ctx, t, func(to io.Writer) error { return w.fill(ctx, to, nil) }, publish.Checks{Content: func(tmp string) error { return w.verify(ctx, tmp, false) }})
		})
		if err != nil && !errors.Is(err, publish.ErrPublished) {
			return nil, err
		}
		rep := w.report(nil)
		rep.Target = t.Path
		return rep, err
	}
	run, err := w.begin()
	if err != nil {
		return nil, err
	}
	rep, f, err := w.into(ctx, run, t)
	if err != nil && !errors.Is(err, publish.ErrPublished) {
		return nil, errors.Join(w.named(err), w.giveBack(ctx, run, f))
	}
	return rep, err
}

// discard removes the run's record, unless the run has done something else.
func discard(run *runs.Run) error {
	if err := run.Discard(); err != nil && !errors.Is(err, runs.ErrKept) {
		return err
	}
	return nil
}

// place says where the copy goes.
func (w *job) place() (publish.Target, error) {
	t := publish.Target{Mode: w.Source.Info.Mode().Perm(), Owner: w.Source.Info, Like: w.Source.Real}
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
		dir := w.copyDir(now)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return t, err
		}
		t.Path = filepath.Join(dir, w.agent.NewName(now, w.thread))
		t.Mode |= 0o200 // the client must be able to write to it
	}
	w.target = t.Path
	return t, nil
}

// linked says whether the session's file is a link that leads out of its directory.
func (w *job) linked() bool {
	dir, err := filepath.EvalSymlinks(filepath.Dir(w.Source.Path))
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	return err == nil && dir != filepath.Dir(w.Source.Real)
}

// copyDir is where a copy under a new id goes: beside the session, or where its client looks if it does not look there.
func (w *job) copyDir(now time.Time) string {
	dir := filepath.Dir(w.Source.Real)
	a := w.agent
	if a.Home == nil || w.Home == "" {
		return dir
	}
	if a.Archive != nil && (a.Archive.Archived(w.Home, dir) || w.linked()) {
		return a.Archive.NewDir(w.Home, now) // its client resumes neither from the archive nor from where a link leads
	}
	return cmp.Or(w.strayed(), dir)
}

// strayed is the folder in which the client finds a copy, if it does not look into the session's own; else "".
func (w *job) strayed() string {
	if w.agent.Home == nil || w.agent.Strayed == nil || w.Home == "" {
		return ""
	}
	return w.agent.Strayed(w.Home, w.Source.Real, w.found.Summary.Header.CWD)
}

// setAside creates the file for what leaves the session. It replaces one that an earlier attempt at the same copy has left.
func (w *job) setAside(run *runs.Run, f *runs.File) (aside io.WriteCloser, err error) {
	if f.SetAside != "" {
		if err := os.Remove(filepath.Join(run.Path(), f.SetAside)); err != nil {
			return nil, err
		}
	}
	aside, f.SetAside, err = run.SetAside(filepath.Base(w.Source.Real) + ".set-aside")
	return aside, err
}

// into writes and records one copy. It returns the file's entry even with an error.
func (w *job) into(ctx context.Context, run *runs.Run, t publish.Target) (*Report, *runs.File, error) {
	c := &copying{job: w, run: run, compressed: strings.HasSuffix(t.Path, ".zst") && !(w.plan.Empty() && w.Source.Compressed), file: &runs.File{
		Source: w.Source.Real, Target: t.Path, Mode: w.Mode.String(),
		SizeBefore: w.Source.Info.Size(), ModTimeBefore: w.Source.Info.ModTime(), Home: w.Home, Plan: w.planSum(),
	}}
	defer func() { c.guard.Release() }()
	err := c.write(ctx, t)
	if err != nil && !errors.Is(err, publish.ErrPublished) {
		return nil, c.file, err
	}
	if c.guard.Broken() {
		w.notes = append(w.notes, "somebody opened the session at the moment it was replaced: what they write now is lost; have them open it again")
	}
	if w.Mode == InPlace && c.compressed {
		w.notes = append(w.notes, "the session stays compressed; its client unpacks it at the next resume")
	}
	w.enlist(ctx)
	return w.report(run), c.file, err
}

// copying is one copy on its way into its file.
type copying struct {
	*job
	run        *runs.Run
	file       *runs.File   // its entry in the run's record
	compressed bool         // the copy is
	original   func() error // waits until the original is kept, in place
	aside      io.WriteCloser
	guard      *disk.Guard // while nobody else can open what is replaced
}

// write publishes the copy. If it replaces the original, that is kept meanwhile.
func (c *copying) write(ctx context.Context, t publish.Target) (err error) {
	ctx, stop := context.WithCancel(ctx)
	c.original = c.keepOriginal(ctx)
	defer c.original() //nolint:errcheck // if it matters, check has seen it
	defer stop()
	return c.attempt(ctx, filepath.Dir(t.Path), func() error {
		if c.op == nil { // what an operation takes out is in the original, which stays or is kept
			if c.aside, err = c.setAside(c.run, c.file); err != nil {
				return err
			}
			defer c.aside.Close()
		}
		return c.run.Publish(ctx, c.file, t, func(to io.Writer) error { return c.fill(ctx, to) }, publish.Checks{
			Content: func(tmp string) error { return c.check(ctx, tmp) },
			Last:    func() error { return c.last(ctx) },
		})
	})
}

// keepOriginal begins to keep the original, if it is to be replaced, and returns a function that waits for that.
func (c *copying) keepOriginal(ctx context.Context) (wait func() error) {
	if c.Mode != InPlace {
		return func() error { return nil }
	}
	done := make(chan error, 1)
	go func() {
		var err error
		c.file.Backup, c.file.SHA256Before, err = c.run.Backup(ctx, c.Source)
		done <- err
	}()
	return sync.OnceValue(func() error { return <-done })
}

// fill writes the copy, and keeps what the client's database holds of the session if that is replaced.
func (c *copying) fill(ctx context.Context, to io.Writer) (err error) {
	var aside io.Writer
	if c.aside != nil {
		aside = c.aside
	}
	if err := c.fillAs(ctx, to, aside, c.compressed); err != nil {
		return err
	}
	if c.aside != nil {
		if err := c.aside.Close(); err != nil {
			return err
		}
	}
	if c.made != nil {
		c.file.DiffersFrom = c.made.from
	}
	if c.Mode != InPlace {
		c.file.SHA256Before, err = c.sourceSum()
		return err
	}
	return c.keepRows(ctx, c.run, c.file)
}

// check reads the copy back while the disk writes it.
func (c *copying) check(ctx context.Context, tmp string) error {
	if err := c.verify(ctx, tmp, c.compressed); err != nil {
		return err
	}
	if err := c.original(); err != nil {
		return err
	}
	if c.Mode != InPlace {
		return nil
	}
	return c.checkDependants(ctx)
}

// last checks, immediately before the rename, that the session is still what was read and may be replaced.
func (c *copying) last(ctx context.Context) (err error) {
	if c.Mode != InPlace {
		return c.Source.Changed()
	}
	if c.guard, err = c.settleView(ctx, c.file); err != nil {
		c.guard.Release() // the run's record is settled next, which reads the file
	}
	return err
}
