package publish

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/hist-cli/hist/internal/cause"
	"github.com/hist-cli/hist/internal/failpoint"
)

// What callers must tell apart; test with errors.Is.
var (
	// ErrExists: there is a file under the target's name, and it was not to be replaced.
	ErrExists = errors.New("the file exists already")
	// ErrNotRegular: the name to be replaced belongs to a symbolic link, directory or device.
	ErrNotRegular = errors.New("only a regular file can be replaced")
	// ErrSame: two names that must be different files are one.
	ErrSame = errors.New("source and target are the same file")
	// ErrPublished: the new file stands whole under its name; what failed came after that.
	ErrPublished = errors.New("the file was written, but")
)

// Target says where a file goes and what it is to look like.
type Target struct {
	Path    string      // a symbolic link is never followed or replaced: resolve it first
	Replace bool        // rename over an existing file; without it an existing file is ErrExists
	Mode    fs.FileMode // permission bits; 0 means 0600
	ModTime time.Time   // zero: now
	Owner   fs.FileInfo // take user and group from this file, best effort; nil: ours
}

// Checks are asked before a file takes its name; each may be nil. What they return is returned as it is, and says itself what
// it is about.
type Checks struct {
	// Content is called with the path of what was written, while the disk takes it: is it what was meant?
	Content func(tmp string) error
	// Last is called when nothing but the rename is to come: may a file still be replaced?
	Last func() error
}

// bufferSize is how many bytes are gathered before they are written.
const bufferSize = 256 << 10

// Write makes the file t.Path out of what fill writes. fill writes to a temporary file in the same directory, whose
// name no agent takes for a session; only if it is synced and both checks succeed does the file take its name, in one step,
// with the mode, owner and modification time of t.
//
// On any error, and when ctx is done before the last step, the temporary file is removed and the target is as it was.
// The one exception is an error that is ErrPublished. Errors name the target, but for fill's own and those of the checks,
// which come back as they are.
func Write(ctx context.Context, t Target, fill func(w io.Writer) error, checks Checks) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("writing %s: %w", t.Path, err)
	}
	t.Path = filepath.Clean(t.Path)
	if err := Vacant(t); err != nil {
		return err
	}
	f, err := createTemp(filepath.Dir(t.Path))
	if err != nil {
		return explain("writing", t.Path, err)
	}
	d := &draft{Target: t, f: f}
	defer d.drop()
	failpoint.At("created")
	if err := d.fill(ctx, fill); err != nil {
		return err
	}
	if err := d.settle(checks.Content); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("writing %s: %w", t.Path, err)
	}
	if err := d.publish(checks.Last); err != nil {
		return err
	}
	if err := SyncDir(filepath.Dir(t.Path)); err != nil {
		return fmt.Errorf("%s: %w its directory could not be synced to disk: %w", t.Path, ErrPublished, cause.Of(err))
	}
	failpoint.At("durable")
	return nil
}

// draft is a file on its way to its name.
type draft struct {
	Target
	f         *os.File // under a temporary name
	published bool
}

// drop removes the temporary file, unless it has become the target.
func (d *draft) drop() {
	if !d.published {
		d.f.Close() // a second close is harmless
		os.Remove(d.f.Name())
	}
}

// fill has the content written, and gives the file its owner and mode.
func (d *draft) fill(ctx context.Context, fill func(w io.Writer) error) error {
	g := &guarded{ctx: ctx, w: d.f}
	w := bufio.NewWriterSize(g, bufferSize)
	if err := fill(w); err != nil {
		if g.err != nil {
			return explain("writing", d.Path, g.err)
		}
		return err
	}
	failpoint.At("filled")
	if err := w.Flush(); err != nil {
		return explain("writing", d.Path, err)
	}
	failpoint.At("flushed")
	if err := dress(d.f, d.Target); err != nil {
		return explain("setting the mode of", d.Path, err)
	}
	failpoint.At("dressed")
	return nil
}

// settle brings the file to the disk, and has what was written checked while the disk takes it.
func (d *draft) settle(check func(tmp string) error) (err error) {
	synced := make(chan error, 1)
	go func() { synced <- d.f.Sync() }()
	if check != nil {
		err = check(d.f.Name())
	}
	if serr := <-synced; serr != nil {
		return explain("syncing", d.Path, serr)
	}
	failpoint.At("synced")
	if err != nil {
		return err
	}
	failpoint.At("checked")
	// Only now, so that Sweep sees for as long as possible that the file is fresh.
	if !d.ModTime.IsZero() {
		if err := errors.Join(os.Chtimes(d.f.Name(), d.ModTime, d.ModTime), d.f.Sync()); err != nil {
			return explain("setting the time of", d.Path, err)
		}
	}
	if err := d.f.Close(); err != nil {
		return explain("writing", d.Path, err)
	}
	failpoint.At("closed")
	return nil
}

// publish gives the file its name. last is asked when nothing but that is to come.
func (d *draft) publish(last func() error) error {
	if d.Replace {
		if err := Vacant(d.Target); err != nil {
			return explain("publishing", d.Path, err)
		}
	}
	if last != nil {
		if err := last(); err != nil {
			return err
		}
	}
	name := os.Rename
	if !d.Replace {
		name = renameNew
	}
	if err := name(d.f.Name(), d.Path); err != nil {
		return explain("publishing", d.Path, err)
	}
	d.published = true
	failpoint.At("published")
	return nil
}

// Vacant refuses a target whose name is taken by something that must stay. The error may be ErrExists or ErrNotRegular.
func Vacant(t Target) error {
	info, err := os.Lstat(t.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return explain("writing", t.Path, err)
	case !t.Replace:
		return fmt.Errorf("writing %s: %w; remove it or name another place", t.Path, ErrExists)
	case !info.Mode().IsRegular():
		return fmt.Errorf("replacing %s: %w", t.Path, ErrNotRegular)
	}
	return nil
}

// dress gives the file its owner and mode, in this order: a change of owner can clear mode bits.
func dress(f *os.File, t Target) error {
	mode := t.Mode.Perm()
	if mode == 0 {
		mode = 0o600
	}
	if t.Owner != nil && !giveTo(f, t.Owner) {
		mode &^= 0o070 // it would be our group's, not theirs
	}
	if err := f.Chmod(mode); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}

// guarded stops writing when the context is done, and keeps the first error: fill's own may be about something else.
type guarded struct {
	ctx context.Context
	w   io.Writer
	err error
}

func (g *guarded) Write(b []byte) (n int, err error) {
	if g.err != nil {
		return 0, g.err
	}
	if g.err = g.ctx.Err(); g.err == nil {
		n, g.err = g.w.Write(b)
	}
	return n, g.err
}

// SameFile says whether two paths lead to one file, by any spelling: relative or not, through links, hard links, or
// other case where the file system does not mind it. Files that do not exist yet are compared by directory and name.
func SameFile(a, b string) (bool, error) {
	ai, aerr := os.Stat(a)
	bi, berr := os.Stat(b)
	switch {
	case aerr == nil && berr == nil:
		return os.SameFile(ai, bi), nil
	case aerr == nil && errors.Is(berr, fs.ErrNotExist), berr == nil && errors.Is(aerr, fs.ErrNotExist):
		return false, nil
	case !errors.Is(aerr, fs.ErrNotExist):
		return false, fmt.Errorf("comparing %s with %s: %w", a, b, aerr)
	case !errors.Is(berr, fs.ErrNotExist):
		return false, fmt.Errorf("comparing %s with %s: %w", a, b, berr)
	}
	a, b = filepath.Clean(a), filepath.Clean(b)
	if filepath.Base(a) != filepath.Base(b) {
		return false, nil
	}
	ad, aerr := os.Stat(filepath.Dir(a))
	bd, berr := os.Stat(filepath.Dir(b))
	if aerr != nil || berr != nil {
		return a == b, nil // nothing can be written to a directory that is not there
	}
	return os.SameFile(ad, bd), nil
}

// Full says whether a write failed because there is no room.
func Full(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, errQuota) }

// explain names the path, what was tried and, where it is known, what to do.
func explain(doing, path string, err error) error {
	hint := ""
	switch {
	case Full(err):
		hint = " (free some space there, or write to another disk)"
	case errors.Is(err, syscall.EFBIG):
		hint = " (the file is larger than the file system or ulimit -f allows)"
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		hint = " (its directory must be writable; write to another one)"
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%s %s: %w; remove it or name another place", doing, path, ErrExists)
	}
	return fmt.Errorf("%s %s: %w%s", doing, path, cause.Of(err), hint)
}
