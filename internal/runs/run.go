package runs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/hist-cli/hist/internal/publish"
	"github.com/hist-cli/hist/internal/source"
)

// ErrKept says that a run is not discarded, because it has published something, or may have.
var ErrKept = errors.New("the run holds what is needed to undo a repair")

// Run is one run's directory and manifest. It is not safe for use by several goroutines, except where a method says so.
type Run struct {
	Manifest Manifest
	dir      string
	count    int         // how many backups were made
	size     int64       // length of the journal's complete lines, in bytes
	torn     int64       // length of an incomplete line after them, which a crash cut off, in bytes
	last     string      // SHA-256 of the journal's last line; of the manifest if there is none, and "" if that is not written yet
	named    atomic.Bool // the directory has names that were not synced
}

// Path returns the absolute path of the run's directory.
func (r *Run) Path() string { return r.dir }

// Backup copies the bytes of a file, as they are stored, into the run and syncs the copy; its name becomes durable with the record that
// mentions it. It returns the copy's name in the run, for File.Backup, and the SHA-256 of the bytes. If the file changes meanwhile the
// error is source.ErrChanged. Publish may be called meanwhile, if its check of the content waits for it.
func (r *Run) Backup(ctx context.Context, s *source.Source) (rel, sha string, err error) {
	in, err := s.Raw(ctx)
	if err != nil {
		return "", "", fmt.Errorf("keeping the original: %w", err)
	}
	defer in.Close()
	var f *os.File
	for f == nil {
		r.count++
		rel = fmt.Sprintf("original-%d-%s", r.count, safeName(s.Name))
		f, err = r.create(rel)
		if err != nil && !errors.Is(err, os.ErrExist) {
			return "", "", fmt.Errorf("keeping the original of %s: %w", s.Path, room(err))
		}
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	kept := source.NewTee(f)
	if _, err = copyTo(kept, in, s.Size()); err != nil {
		return "", "", fmt.Errorf("keeping the original of %s in %s: %w", s.Path, r.dir, room(err))
	}
	if err = finish(f); err != nil {
		return "", "", fmt.Errorf("keeping the original of %s in %s: %w", s.Path, r.dir, room(err))
	}
	if err = s.Changed(); err != nil {
		return "", "", err
	}
	return rel, kept.Sum.Hex(), nil
}

// SetAside creates a file in the run for bytes that leave the session, and returns its name, for File.SetAside. It is not synced: the
// original has these bytes, too, and is either left where it is or kept by Backup.
func (r *Run) SetAside(name string) (io.WriteCloser, string, error) {
	f, rel, err := r.createFor(name)
	return &hinting{f}, rel, err
}

// createFor creates a file whose name is made of a session's.
func (r *Run) createFor(name string) (*os.File, string, error) {
	rel := safeName(name)
	f, err := r.create(rel)
	for n := 2; errors.Is(err, os.ErrExist); n++ {
		rel = fmt.Sprintf("%d-%s", n, safeName(name))
		f, err = r.create(rel)
	}
	if err != nil {
		return nil, "", fmt.Errorf("creating a file for what is set aside: %w", room(err))
	}
	return f, rel, nil
}

// KeepRows creates a file in the run for what a client's database holds about a session, before any of it is changed. write
// fills it; the returned name and SHA-256 are for File.Rows and File.RowsSHA256. If write writes nothing there is no file,
// and the name is empty. It may be the only copy: it is synced, and its name becomes durable with the record that mentions it.
func (r *Run) KeepRows(session string, write func(w io.Writer) error) (rel, sha string, err error) {
	w, rel, err := r.createFor(session + ".rows.jsonl")
	if err != nil {
		return "", "", err
	}
	tee := source.NewTee(w)
	if err = room(write(tee)); err == nil {
		err = room(finish(w))
	} else {
		w.Close()
	}
	if err != nil || tee.Size == 0 {
		return "", "", errors.Join(err, os.Remove(filepath.Join(r.dir, rel)))
	}
	return rel, tee.Sum.Hex(), nil
}

// OpenRows opens a file that KeepRows created.
func (r *Run) OpenRows(name string) (io.ReadCloser, error) {
	return os.Open(filepath.Join(r.dir, name))
}

// Beside records a change to what a client keeps beside a session, such as rows of its database, when the session's own file
// stays as it is. A crash is harmless because of the order: f.Rows is kept already, and change is called once the record
// names it. The caller sets SHA256Before and SizeBefore; mode, target and the other sizes and hashes are filled in here.
func (r *Run) Beside(f File, change func() error) error {
	f.Mode, f.Target, f.SHA256After, f.SizeAfter, f.Published = View, f.Source, f.SHA256Before, f.SizeBefore, true
	if err := f.check(); err != nil {
		return err
	}
	r.Manifest.Files = append(r.Manifest.Files, f)
	err := r.record(len(r.Manifest.Files)-1, true)
	if err == nil {
		err = change()
	}
	if err != nil {
		err = errors.Join(err, r.drop())
	}
	return err
}

// WriteReport writes a report on a session into the run, completely or not at all unless the power fails. The file's name is made of the
// session's name and kind.
func (r *Run) WriteReport(session, kind string, data []byte) error {
	name := safeName(session) + kind
	for n := 2; r.has(name); n++ {
		name = fmt.Sprintf("%d-%s%s", n, safeName(session), kind)
	}
	return r.write(name, data, true)
}

// has says whether the run has a file of that name.
func (r *Run) has(name string) bool {
	_, err := os.Lstat(filepath.Join(r.dir, name))
	return err == nil
}

// Discard removes the directory of a run that has changed nothing. If something was published, or it cannot be shown
// that nothing was, it returns ErrKept.
func (r *Run) Discard() error {
	if err := r.settle(context.Background()); err != nil {
		return err
	}
	for _, f := range r.Manifest.Files {
		if (f.Published || f.Mode == Moved) && !f.Undone {
			return fmt.Errorf("run %s: %w of %s", r.Manifest.Run, ErrKept, f.Target)
		}
		if f.Backup != "" && !f.Undone {
			sha, _, err := Hash(context.Background(), f.Source)
			if err != nil || sha != f.SHA256Before {
				return fmt.Errorf("run %s: %w: %s is not the file that was backed up", r.Manifest.Run, ErrKept, f.Source)
			}
		}
	}
	if err := os.RemoveAll(r.dir); err != nil {
		return fmt.Errorf("removing the record of run %s: %w", r.Manifest.Run, err)
	}
	return publish.SyncDir(filepath.Dir(r.dir))
}

// Publish writes f.Target through publish.Write and records it, in an order that makes a crash harmless. The caller
// sets Source, Target, Mode, SizeBefore, SHA256Before, ModTimeBefore and, in place, Backup; t.Path must be Target. SHA256Before and
// Backup may also be set by fill, whose writer is a source.Tee, or by the check of the content.
// Size and hash of what is written are filled in here. The checks are publish.Write's. On any error other than
// publish.ErrPublished nothing was published and the run does not list the file.
func (r *Run) Publish(ctx context.Context, f *File, t publish.Target, fill func(io.Writer) error, checks publish.Checks) error {
	if err := f.goesWith(t); err != nil {
		return err
	}
	if f.Perm == 0 && f.Mode == InPlace {
		f.Perm = t.Mode.Perm()
	}
	at := len(r.Manifest.Files)
	checked := false // once it is, the file may have its name
	err := publish.Write(ctx, t, func(w io.Writer) error {
		written := source.NewTee(w)
		if err := fill(written); err != nil {
			return err
		}
		f.SizeAfter, f.SHA256After = written.Size, written.Sum.Hex()
		return nil
	}, publish.Checks{Content: func(tmp string) error { return r.announce(f, tmp, checks.Content) }, Last: func() (err error) {
		if checks.Last != nil {
			err = checks.Last()
		}
		checked = err == nil
		return err
	}})
	if err != nil && !errors.Is(err, publish.ErrPublished) {
		published, err := r.failed(ctx, at, checked, err)
		if !published {
			return err
		}
		return r.published(at, fmt.Errorf("%s: %w %w", f.Target, publish.ErrPublished, err))
	}
	return r.published(at, err)
}

// goesWith returns an error if a file's entry does not go with the place that it is written to.
func (f *File) goesWith(t publish.Target) error {
	if t.Path != f.Target || !filepath.IsAbs(f.Target) || !filepath.IsAbs(f.Source) {
		return fmt.Errorf("recording %s: its paths must be absolute and the same in both places", f.Target)
	}
	if t.Replace && f.Mode != InPlace {
		return fmt.Errorf("writing %s: only an in-place repair may replace a file", f.Target)
	}
	return nil
}

// announce records that a file is about to be published, once its content has passed the caller's check, if there is one. It is
// not done earlier: most file systems, when they sync the record, would first sync the whole file.
func (r *Run) announce(f *File, tmp string, check func(tmp string) error) error {
	if check != nil {
		if err := check(tmp); err != nil {
			return err
		}
	}
	f.Published = false
	if err := f.check(); err != nil {
		return fmt.Errorf("recording %s: %w", f.Target, err)
	}
	at := len(r.Manifest.Files)
	r.Manifest.Files = append(r.Manifest.Files, *f)
	err := r.record(at, true)
	if err != nil {
		r.Manifest.Files = r.Manifest.Files[:at] // there is nothing to undo
	}
	return err
}

// failed settles what an error of publish.Write has left of the file with an index. Over a network a rename can report an error
// although it took place: then published is true. A file that had not passed its checks has no name: what stands there,
// another run wrote, even if it is the same.
func (r *Run) failed(ctx context.Context, at int, checked bool, err error) (published bool, _ error) {
	if len(r.Manifest.Files) == at {
		return false, err
	}
	if !checked {
		return false, errors.Join(err, r.drop())
	}
	if serr := r.settle(context.WithoutCancel(ctx)); serr != nil {
		return false, errors.Join(err, serr)
	}
	if !r.Manifest.Files[at].Published {
		return false, errors.Join(err, r.drop())
	}
	return true, err
}

// published records that a file has its name; err is what failed behind that.
func (r *Run) published(at int, err error) error {
	r.Manifest.Files[at].Published = true
	if serr := r.record(at, false); serr != nil {
		// Load finds this out by itself, but the caller should still hear of a failing disk.
		return errors.Join(err, fmt.Errorf("%s: %w its record could not be completed: %w", r.Manifest.Files[at].Target, publish.ErrPublished, serr))
	}
	return err
}

// HashRest returns the SHA-256 of a file's bytes as they are stored, in hexadecimal. begun has already taken in the bytes
// before the offset from.
func HashRest(ctx context.Context, s *source.Source, begun *source.Sum, from int64) (sha string, err error) {
	in, err := s.Raw(ctx)
	if err != nil {
		return "", err
	}
	defer in.Close()
	rest := max(0, s.Size()-from)
	_, err = copyTo(begun, io.NewSectionReader(in.(io.ReaderAt), from, rest), rest)
	return begun.Hex(), err
}

// Hash returns the SHA-256 of a file's bytes as they are stored, in hexadecimal, and their number.
func Hash(ctx context.Context, path string) (sha string, size int64, err error) {
	s, err := source.Open(path)
	if err != nil {
		return "", 0, err
	}
	sha, err = HashOf(ctx, s)
	return sha, s.Size(), err
}

// HashOf is Hash for a file that is open.
func HashOf(ctx context.Context, s *source.Source) (sha string, err error) {
	return HashRest(ctx, s, source.NewSum(), 0)
}

func (r *Run) create(name string) (*os.File, error) {
	if !plainName(name) {
		return nil, fmt.Errorf("%q is not the name of a file in the run", name)
	}
	r.named.Store(true)
	return os.OpenFile(filepath.Join(r.dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}

func (r *Run) write(name string, data []byte, lax bool) error {
	t := publish.Target{Path: filepath.Join(r.dir, name), Replace: true, Lax: lax}
	return publish.Write(context.Background(), t, publish.Bytes(data), publish.Checks{})
}

// copyTo copies about so many bytes, with a buffer that is large enough for a fast disk, and no larger than they are.
func copyTo(w io.Writer, r io.Reader, size int64) (int64, error) {
	return io.CopyBuffer(w, struct{ io.Reader }{r}, make([]byte, max(512, min(size, 1<<20))))
}

// finish syncs what a file holds to the disk, and closes it.
func finish(f *os.File) error {
	err := errors.Join(publish.Sync(f), f.Close())
	publish.Step("kept " + filepath.Ext(f.Name()))
	return err
}

// hinting says of a full disk what to do.
type hinting struct{ *os.File }

func (h *hinting) Write(b []byte) (int, error) {
	n, err := h.File.Write(b)
	return n, room(err)
}

// room says of an error what to do where the disk with the records is full, which need not be that of the session.
func room(err error) error {
	if !publish.Full(err) {
		return err
	}
	return fmt.Errorf("%w (free some space there, remove old records with hist runs prune, or name another place for them in XDG_STATE_HOME)", err)
}

// safeName turns a name into a file name of letters, digits, dots, dashes and underscores that does not begin with a dot.
func safeName(name string) string {
	name = strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '.', c == '-', c == '_':
			return c
		}
		return '_'
	}, name)
	name = strings.TrimLeft(name, ".")
	if len(name) > 150 {
		name = name[len(name)-150:]
	}
	if name == "" || name == manifestName || name == journalName {
		return "_" + name
	}
	return name
}
