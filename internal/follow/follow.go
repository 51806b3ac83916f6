// Package follow reports which session files below some directories have changed, by means of the system's notifications.
//
// In: directories and files. Out: the path of each session file that was written, created, renamed or removed, once it has
// not changed for a while. It reads no file, and does nothing while nothing happens.
package follow

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/hist-cli/hist/internal/disk"
	"github.com/hist-cli/hist/internal/walk"
)

// ErrLimit says that the system does not let this user watch any more directories.
var ErrLimit = errors.New("the system's limit of watched directories is reached; raise it (Linux: sysctl fs.inotify.max_user_watches and fs.inotify.max_user_instances), or watch a part of the home")

// Follower watches directories and everything below them. It must be used by one goroutine only.
type Follower struct {
	rest      time.Duration
	system    *fsnotify.Watcher
	dirs      map[string]map[string]bool // the watched directories, and the session files that were seen in them
	roots     []string                   // the paths to watch; one that does not exist may appear later
	unwatched []error                    // why some directories are not watched
	pending   pending

	followed map[string]string // the real paths of the roots that are directories, and of directories that symbolic links below them lead to
}

// New begins to watch. Every path may be a file or a directory, and may not exist yet: it is noticed when it appears. rest
// is how long a file must not have changed before it is reported. The error is ErrLimit, or the system's. The Follower must
// be closed.
func New(paths []string, rest time.Duration) (*Follower, error) {
	system, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, limitError("", err)
	}
	f := &Follower{rest: rest, system: system, dirs: map[string]map[string]bool{}, followed: map[string]string{}, pending: pending{due: map[string]time.Time{}}}
	for _, path := range paths {
		abs, err := filepath.Abs(path)
		if err == nil {
			f.roots = append(f.roots, abs)
			err = f.root(abs, false)
		}
		if err != nil {
			return nil, errors.Join(err, system.Close())
		}
	}
	return f, nil
}

// Close stops watching.
func (f *Follower) Close() error { return f.system.Close() }

// Dirs returns how many directories are watched.
func (f *Follower) Dirs() int { return len(f.dirs) }

// Unwatched returns an error for each directory that could not be watched.
func (f *Follower) Unwatched() []error { return f.unwatched }

// Later reports a path again after a while, as if it had changed.
func (f *Follower) Later(path string, after time.Duration) {
	if !f.pending.has(path) {
		f.pending.set(path, time.Now().Add(after))
	}
}

// Next waits for the next session file that has changed, and has not changed again for the time given to New. The file may
// have been removed. The error is ctx's, ErrLimit, or the system's.
func (f *Follower) Next(ctx context.Context) (string, error) {
	for {
		path, at := f.pending.first()
		var due <-chan time.Time
		if path != "" {
			wait := time.Until(at)
			if wait <= 0 {
				f.pending.drop(path)
				return path, nil
			}
			due = time.After(wait) // never stopped: it expires by itself
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-due:
		case e, ok := <-f.system.Events:
			if !ok {
				return "", fsnotify.ErrClosed
			}
			if err := f.event(e); err != nil {
				return "", err
			}
		case err, ok := <-f.system.Errors:
			if !ok {
				return "", fsnotify.ErrClosed
			}
			if err := f.failed(err); err != nil {
				return "", err
			}
		}
	}
}

// failed handles an error of the system. If events were lost, anything may have changed: sessions that were there may be gone, and
// directories may be others than those that are watched, under the same names.
func (f *Follower) failed(err error) error {
	if !errors.Is(err, fsnotify.ErrEventOverflow) {
		return fmt.Errorf("watching for changes: %w", err)
	}
	for dir, files := range f.dirs {
		f.unwatch(dir, files)
	}
	clear(f.followed)
	for _, root := range f.roots {
		if err := f.root(root, true); err != nil {
			return err
		}
	}
	return nil
}

// event handles a notification of the system.
func (f *Follower) event(e fsnotify.Event) error {
	if e.Op == fsnotify.Chmod {
		return nil
	}
	if e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename) {
		f.forget(e.Name)
	}
	if walk.IsSession(e.Name) && f.belowRoot(e.Name) {
		f.see(e.Name)
		f.pending.set(e.Name, time.Now().Add(f.rest))
		return nil
	}
	for _, root := range f.roots {
		if root == e.Name || strings.HasPrefix(root, e.Name+string(filepath.Separator)) {
			if err := f.root(root, true); err != nil { // it, or a directory above it, has appeared or disappeared
				return err
			}
		}
	}
	if e.Has(fsnotify.Create) && f.belowRoot(e.Name) {
		return f.below(e.Name, true)
	}
	return nil
}

// forget drops the watches of a directory that was removed or renamed. The sessions that were in it count as changed.
func (f *Follower) forget(dir string) {
	maps.DeleteFunc(f.followed, func(at, _ string) bool { return at == dir || strings.HasPrefix(at, dir+string(filepath.Separator)) })
	for d, files := range f.dirs {
		if d == dir || strings.HasPrefix(d, dir+string(filepath.Separator)) {
			f.unwatch(d, files)
		}
	}
}

// unwatch drops the watch of a directory. The sessions that were in it count as changed.
func (f *Follower) unwatch(dir string, files map[string]bool) {
	f.system.Remove(dir) //nolint:errcheck // if the directory is gone, the system has dropped the watch itself
	delete(f.dirs, dir)
	for path := range files {
		f.pending.set(path, time.Now().Add(f.rest))
	}
}

// see remembers a session file, so that it can be reported if its directory disappears.
func (f *Follower) see(path string) {
	if files := f.dirs[filepath.Dir(path)]; files != nil {
		files[path] = true
	}
}

// belowRoot says whether a path is one of the roots or below one.
func (f *Follower) belowRoot(path string) bool {
	return slices.ContainsFunc(f.roots, func(root string) bool {
		return path == root || strings.HasPrefix(path, root+string(filepath.Separator))
	})
}

// root watches one of the roots. For a file, or a path that does not exist yet, it watches the nearest directory above.
// report says that the sessions found now are to be reported as changed.
func (f *Follower) root(path string, report bool) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		if real, err := filepath.EvalSymlinks(path); err == nil && !isLink(path) {
			f.followed[path] = real
		}
		return f.below(path, report)
	case err == nil && report:
		f.pending.set(path, time.Now().Add(f.rest))
	}
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return f.add(dir)
		}
		if dir == filepath.Dir(dir) {
			return fmt.Errorf("%s: no directory above it exists", path)
		}
	}
}

// below watches a directory and everything in it. report says that the sessions in it are to be reported as changed,
// because they may have been written before the watch began.
func (f *Follower) below(dir string, report bool) error {
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			if !errors.Is(err, fs.ErrNotExist) {
				f.unwatched = append(f.unwatched, err)
			}
			return nil // gone again, or not readable for us
		case e.IsDir():
			return f.add(path)
		case e.Type()&fs.ModeSymlink != 0 && disk.IsDir(path):
			return f.link(path, report)
		case walk.IsSession(path):
			if f.see(path); report {
				f.pending.set(path, time.Now().Add(f.rest))
			}
		}
		return nil
	})
}

// link is below for a symbolic link to a directory. It does nothing if that directory is watched anyway, or is above a
// watched one.
func (f *Follower) link(path string, report bool) error {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil // gone again
	}
	for at, top := range f.followed {
		if at != path && (walk.Within(real, top) || walk.Within(top, real)) {
			return nil
		}
	}
	f.followed[path] = real
	return f.below(path+string(filepath.Separator), report) // with the separator at the end, the link is followed
}

func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

func (f *Follower) add(dir string) error {
	dir = filepath.Clean(dir)
	if f.dirs[dir] != nil {
		return nil
	}
	if err := f.system.Add(dir); err != nil {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
			return nil // gone again, or not readable for us
		}
		return limitError(dir, err)
	}
	f.dirs[dir] = map[string]bool{}
	return nil
}

// limitError adds to an error of the system what was tried and, if a limit is reached, what to do about it.
func limitError(dir string, err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EMFILE) {
		err = fmt.Errorf("%w (%w)", ErrLimit, err)
	}
	if dir == "" {
		return fmt.Errorf("watching for changes: %w", err)
	}
	return fmt.Errorf("watching %s: %w", dir, err)
}
