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

	"github.com/hist-cli/hist/internal/disk"
)

// What callers must tell apart; test with errors.Is.
var (
	// ErrExists says that the target exists, and was not to be replaced.
	ErrExists = errors.New("the file exists already")
	// ErrNotRegular says that what was to be replaced is a symbolic link, directory or device.
	ErrNotRegular = errors.New("only a regular file can be replaced")
	// ErrSame says that two paths that must be different files lead to the same one.
	ErrSame = errors.New("source and target are the same file")
	// ErrPublished says that the new file is complete under its name, and something failed after that.
	ErrPublished = errors.New("the file was written, but")
)

// Target says where a file is written, and its attributes.
type Target struct {
	Path    string      // a symbolic link is never followed or replaced: resolve it first
	Replace bool        // rename over an existing file; without it an existing file is ErrExists
	Mode    fs.FileMode // permission bits; 0 means 0600
	ModTime time.Time   // zero: now
	Owner   fs.FileInfo // take user and group from this file, if possible; nil: ours
	Like    string      // take the access list from the file with this path, if possible, and with Replace also the extended attributes; "": none
	Lax     bool        // the file may be lost, or be cut short, if the power fails within the next minute: the disk is not waited for
}

// Checks are called before a file is renamed into place; each may be nil. Their errors are returned unchanged, and must name
// the file themselves.
type Checks struct {
	// Content is called with the path of what was written, while it is being synced: is it what was meant?
	Content func(tmp string) error
	// Last is called immediately before the rename: may the file still be replaced?
	Last func() error
}

// Bytes fills a file with data.
func Bytes(data []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	}
}

// CopyOf fills a file with what another one holds.
func CopyOf(path string) func(io.Writer) error {
	return func(w io.Writer) error {
		in, err := os.Open(path)
		if err != nil {
			return err
		}
		defer in.Close()
		_, err = io.Copy(w, in)
		return err
	}
}

// bufferSize is how many bytes are collected before they are written.
const bufferSize = 256 << 10

// writebackSize is how many bytes are collected before the disk is told to begin with them.
const writebackSize = 8 << 20

// Write creates the file t.Path with what fill writes. fill writes to a temporary file in the same directory, whose
// name no agent takes for a session. Only when that is synced and both checks have succeeded is it renamed to t.Path, in
// one step, with the mode, owner and modification time of t.
//
// On any error, and when ctx is done before the last step, the temporary file is removed and the target is as it was.
// The one exception is an error that is ErrPublished. Errors name the target, except those of fill and of the checks, which
// are returned unchanged.
func Write(ctx context.Context, t Target, fill func(w io.Writer) error, checks Checks) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("writing %s: %w", t.Path, err)
	}
	t.Path = filepath.Clean(t.Path)
	if err := CheckTarget(t); err != nil {
		return err
	}
	f, err := createTemp(filepath.Dir(t.Path))
	if err != nil {
		return explain("writing", t.Path, err)
	}
	d := &draft{Target: t, f: f}
	defer d.drop()
	Step("created")
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
	if t.Lax {
		return nil
	}
	if err := SyncDir(filepath.Dir(t.Path)); err != nil {
		return fmt.Errorf("%s: %w its directory could not be synced to disk: %w", t.Path, ErrPublished, disk.Cause(err))
	}
	Step("durable")
	return nil
}

// draft is a file that is not yet under its final name.
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

// fill writes the content, and sets the file's owner and mode.
func (d *draft) fill(ctx context.Context, fill func(w io.Writer) error) error {
	g := &guarded{ctx: ctx, f: d.f}
	w := bufio.NewWriterSize(g, bufferSize)
	if err := fill(w); err != nil {
		if g.err != nil {
			return explain("writing", d.Path, g.err)
		}
		return err
	}
	Step("filled")
	if err := w.Flush(); err != nil {
		return explain("writing", d.Path, err)
	}
	Step("flushed")
	if err := setOwnerAndMode(d.f, d.Target); err != nil {
		return explain("setting the mode of", d.Path, err)
	}
	Step("dressed")
	return nil
}

// settle sets the file's time and syncs it to the disk, once for both, and meanwhile checks what was written. That it is new, Sweep still
// sees by its name.
func (d *draft) settle(check func(tmp string) error) (err error) {
	if !d.ModTime.IsZero() {
		if err := os.Chtimes(d.f.Name(), d.ModTime, d.ModTime); err != nil {
			return explain("setting the time of", d.Path, err)
		}
	}
	synced := make(chan error, 1)
	go func() {
		if d.Lax {
			synced <- nil
			return
		}
		synced <- Sync(d.f)
	}()
	if check != nil {
		err = check(d.f.Name())
	}
	if serr := <-synced; serr != nil {
		return explain("syncing", d.Path, serr)
	}
	Step("synced")
	if err != nil {
		return err
	}
	Step("checked")
	if err := d.f.Close(); err != nil {
		return explain("writing", d.Path, err)
	}
	Step("closed")
	return nil
}

// publish renames the file to its final name. last is called immediately before.
func (d *draft) publish(last func() error) error {
	if d.Replace {
		if err := CheckTarget(d.Target); err != nil {
			return explain("publishing", d.Path, err)
		}
	}
	if last != nil {
		if err := last(); err != nil {
			return err
		}
	}
	rename := os.Rename
	if !d.Replace {
		rename = renameNew
	}
	if err := rename(d.f.Name(), d.Path); err != nil {
		return explain("publishing", d.Path, err)
	}
	d.published = true
	Step("published")
	return nil
}

// CheckTarget returns an error if something that must not be replaced has the target's name: ErrExists or ErrNotRegular, or an
// error of the file system.
func CheckTarget(t Target) error {
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

// setOwnerAndMode sets the file's owner, access list and mode, in this order, because a change of owner can clear mode bits.
func setOwnerAndMode(f *os.File, t Target) error {
	mode := t.Mode.Perm()
	if mode == 0 {
		mode = 0o600
	}
	if t.Owner != nil && !GiveTo(f, t.Owner) {
		mode &^= 0o070 // these rights were meant for the owner's group, not for ours
	}
	if t.Like != "" && !takeAttributes(f, t.Like, t.Replace) {
		mode &^= 0o070 // what these bits mean stands in the list
	}
	if err := f.Chmod(mode); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}

// guarded stops writing when the context is done, and keeps the first error, because fill may return another one. It has the disk
// begin early, so that little is left for the sync.
type guarded struct {
	ctx     context.Context
	f       *os.File
	err     error
	written int64
	begun   int64 // up to here, the disk has been told
}

func (g *guarded) Write(b []byte) (n int, err error) {
	if g.err != nil {
		return 0, g.err
	}
	if g.err = g.ctx.Err(); g.err == nil {
		n, g.err = g.f.Write(b)
		g.written += int64(n)
	}
	if fresh := g.written - g.begun; fresh >= writebackSize {
		beginWriteback(g.f, g.begun, fresh)
		g.begun = g.written
	}
	return n, g.err
}

// SameFile says whether two paths lead to the same file, however they are spelled: relative or not, through symbolic or
// hard links, or in another case if the file system ignores case. Files that do not exist yet are compared by directory and
// name.
func SameFile(a, b string) (bool, error) {
	ai, aerr := os.Stat(a)
	bi, berr := os.Stat(b)
	switch {
	case aerr == nil && berr == nil:
		return os.SameFile(ai, bi), nil
	case aerr == nil && errors.Is(berr, fs.ErrNotExist), berr == nil && errors.Is(aerr, fs.ErrNotExist):
		return false, nil
	case aerr != nil && !errors.Is(aerr, fs.ErrNotExist):
		return false, fmt.Errorf("looking at %s: %w", a, disk.Cause(aerr))
	case berr != nil && !errors.Is(berr, fs.ErrNotExist):
		return false, fmt.Errorf("looking at %s: %w", b, disk.Cause(berr))
	}
	a, b = filepath.Clean(a), filepath.Clean(b)
	if filepath.Base(a) != filepath.Base(b) {
		return false, nil
	}
	ad, aerr := os.Stat(filepath.Dir(a))
	bd, berr := os.Stat(filepath.Dir(b))
	if aerr != nil || berr != nil {
		return a == b, nil // nothing can be written to a directory that does not exist
	}
	return os.SameFile(ad, bd), nil
}

// Full says whether a write failed because there is no room.
func Full(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, errQuota) }

// explain adds to an error what was tried, the path and, where there is one, a hint what to do.
func explain(doing, path string, err error) error {
	hint := ""
	switch {
	case Full(err):
		hint = " (free some space there, or write to another disk)"
	case errors.Is(err, syscall.EFBIG):
		hint = " (the file is larger than the file system or ulimit -f allows)"
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		hint = " (its directory must be writable; write to another one)"
	case errors.Is(err, fs.ErrNotExist) && gone(filepath.Dir(path)):
		hint = " (make its directory first)"
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%s %s: %w; remove it or name another place", doing, path, ErrExists)
	}
	return fmt.Errorf("%s %s: %w%s", doing, path, disk.Cause(err), hint)
}

func gone(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}
