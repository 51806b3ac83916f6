// Package follow tells which session files below some directories have changed, by the system's own notification.
//
// In: directories and files. Out: the path of each session file that was written, made, renamed or removed, once it has
// rested. Nothing is read, and nothing is done while nothing happens.
package follow

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/hist-cli/hist/internal/walk"
)

// ErrLimit: the system lets this user watch no more directories.
var ErrLimit = errors.New("the system's limit of watched directories is reached; raise it (Linux: sysctl fs.inotify.max_user_watches and fs.inotify.max_user_instances), or watch a part of the home")

// Follower watches directories and all below them. It is for one goroutine.
type Follower struct {
	rest    time.Duration
	system  *fsnotify.Watcher
	dirs    map[string]map[string]bool // that are watched, and the session files that were seen in them
	roots   []string                   // what was asked for; one that is missing is waited for
	shut    []error                    // why directories are not watched
	pending pending

	followed map[string]string // the real paths of the roots that are directories, and of what symbolic links below them lead to
}

// New begins to watch. Every path may be a file or a directory, and may be missing: it is seen when it comes. rest is how
// long a file must not have changed to be told. The error is ErrLimit, or that of the system. What was begun must be closed.
func New(paths []string, rest time.Duration) (*Follower, error) {
	system, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, limited("", err)
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

// Close ends the watching.
func (f *Follower) Close() error { return f.system.Close() }

// Dirs is how many directories are watched.
func (f *Follower) Dirs() int { return len(f.dirs) }

// Shut says of directories that they could not be watched, and why.
func (f *Follower) Shut() []error { return f.shut }

// Later has a path told again after a while, as if it had changed.
func (f *Follower) Later(path string, after time.Duration) {
	if !f.pending.has(path) {
		f.pending.set(path, time.Now().Add(after))
	}
}

// Next waits for the next session file that has changed and rests. The file may be gone. The error is ctx's, ErrLimit, or
// the system's.
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
			due = time.After(wait) // not stopped: a session that is written all day would heap up what stops it
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
			switch {
			case !ok:
				return "", fsnotify.ErrClosed
			case !errors.Is(err, fsnotify.ErrEventOverflow):
				return "", fmt.Errorf("watching for changes: %w", err)
			}
			for _, root := range f.roots { // more has happened than could be told: all of it may have changed
				if err := f.root(root, true); err != nil {
					return "", err
				}
			}
		}
	}
}

// event takes note of what happened to a name.
func (f *Follower) event(e fsnotify.Event) error {
	if e.Op == fsnotify.Chmod {
		return nil
	}
	if e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename) {
		f.forget(e.Name)
	}
	if walk.IsSession(e.Name) && f.asked(e.Name) {
		f.see(e.Name)
		f.pending.set(e.Name, time.Now().Add(f.rest))
		return nil
	}
	for _, root := range f.roots {
		if root == e.Name || strings.HasPrefix(root, e.Name+string(filepath.Separator)) {
			if err := f.root(root, true); err != nil { // it, or a directory above it, has come or gone
				return err
			}
		}
	}
	if e.Has(fsnotify.Create) && f.asked(e.Name) {
		return f.below(e.Name, true)
	}
	return nil
}

// forget drops the watches of a directory that is gone from its place. What lay in it has changed.
func (f *Follower) forget(dir string) {
	maps.DeleteFunc(f.followed, func(at, _ string) bool { return at == dir || strings.HasPrefix(at, dir+string(filepath.Separator)) })
	for d, files := range f.dirs {
		if d == dir || strings.HasPrefix(d, dir+string(filepath.Separator)) {
			f.system.Remove(d) //nolint:errcheck // the system drops it by itself where it is gone
			delete(f.dirs, d)
			for path := range files {
				f.pending.set(path, time.Now().Add(f.rest))
			}
		}
	}
}

// see remembers a session file, for the case that its directory goes.
func (f *Follower) see(path string) {
	if files := f.dirs[filepath.Dir(path)]; files != nil {
		files[path] = true
	}
}

// asked says whether a path is one of the roots, or lies below one.
func (f *Follower) asked(path string) bool {
	for _, root := range f.roots {
		if path == root || strings.HasPrefix(path, root+string(filepath.Separator)) {
			return true
		}
	}
	return false
}

// root watches what was asked for. Of a file, or of what is not there yet, that is the nearest directory above.
func (f *Follower) root(path string, told bool) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		if real, err := filepath.EvalSymlinks(path); err == nil && !isLink(path) {
			f.followed[path] = real
		}
		return f.below(path, told)
	case err == nil && told:
		f.pending.set(path, time.Now().Add(f.rest))
	}
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return f.add(dir)
		}
		if dir == filepath.Dir(dir) {
			return fmt.Errorf("%s: no directory above it is there", path)
		}
	}
}

// below watches a directory and all in it. told: the sessions in it are changes; they may have come before the watch.
func (f *Follower) below(dir string, told bool) error {
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			if !errors.Is(err, fs.ErrNotExist) {
				f.shut = append(f.shut, err)
			}
			return nil // gone again, or not ours to read
		case e.IsDir():
			return f.add(path)
		case e.Type()&fs.ModeSymlink != 0 && isDir(path):
			return f.link(path, told)
		case walk.IsSession(path):
			if f.see(path); told {
				f.pending.set(path, time.Now().Add(f.rest))
			}
		}
		return nil
	})
}

// link is below for a symbolic link to a directory, unless all that it leads to is watched anyway, or it leads up.
func (f *Follower) link(path string, told bool) error {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil // gone again
	}
	for at, top := range f.followed {
		if at != path && (within(real, top) || within(top, real)) {
			return nil
		}
	}
	f.followed[path] = real
	return f.below(path+string(filepath.Separator), told) // with that the link is followed
}

// within says whether path is dir or below it; both are real paths.
func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func (f *Follower) add(dir string) error {
	dir = filepath.Clean(dir)
	if f.dirs[dir] != nil {
		return nil
	}
	if err := f.system.Add(dir); err != nil {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
			return nil // gone again, or not ours to read
		}
		return limited(dir, err)
	}
	f.dirs[dir] = map[string]bool{}
	return nil
}

// limited is an error of the system's in words that say what to do.
func limited(dir string, err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EMFILE) {
		err = fmt.Errorf("%w (%w)", ErrLimit, err)
	}
	if dir == "" {
		return fmt.Errorf("watching for changes: %w", err)
	}
	return fmt.Errorf("watching %s: %w", dir, err)
}
