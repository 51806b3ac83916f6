// Package walk finds the session files below a directory, whichever agent wrote them: *.jsonl and *.jsonl.zst. It follows
// symbolic links, enters no directory twice, and opens no file. Which of them are a task's when many share the work says its Shard.
// Where something may not be looked at, Denied says whose it is.
package walk

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/hist-cli/hist/internal/disk"
)

// ErrLoop says that a symbolic link leads back to itself or to a directory above it.
var ErrLoop = errors.New("symbolic links go in a circle")

// Entry is a session file that a walk found, or a path that it could not read.
type Entry struct {
	Path   string // begins with root as the caller spelled it
	Hidden bool   // it is X.jsonl.zst beside X.jsonl: agents read the plain file only
	Err    error  // why Path, which may be a directory, could not be read; it does not name Path. The walk goes on.
}

// Walk visits every *.jsonl and *.jsonl.zst below root in the order of filepath.WalkDir: by name within a directory.
// Symbolic links to files are visited under their own name; links to directories are followed, no directory is entered
// twice, and a circle of links is an entry with ErrLoop. Unreadable directories are entries with Err. An error of visit or
// the context's ends the walk and is returned, as is the error if root is missing or not a directory.
func Walk(ctx context.Context, root string, visit func(Entry) error) error {
	info, err := os.Stat(root)
	if err != nil {
		return fmt.Errorf("walking %s: %w", root, disk.Cause(err))
	}
	if !info.IsDir() {
		return fmt.Errorf("walking %s: it is not a directory: %w", root, syscall.ENOTDIR)
	}
	real, err := filepath.EvalSymlinks(root)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		return fmt.Errorf("walking %s: %w", root, disk.Cause(err))
	}
	w := walker{ctx: ctx, visit: visit, recent: RecentOf(ctx), tops: []string{real}, seen: map[string]bool{real: true}}
	return w.dir(root, real)
}

type walker struct {
	ctx    context.Context
	visit  func(Entry) error
	recent *Recent
	tops   []string        // real paths of root and of directories that links led to: everything below them is walked anyway
	seen   map[string]bool // real paths of the directories entered
}

// dir walks the directory called path, whose real path is real.
func (w *walker) dir(path, real string) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	entries, err := w.recent.ReadDir(path) // sorted; with an error it returns what was read so far
	if err != nil {
		if err := w.visit(Entry{Path: path, Err: disk.Cause(err)}); err != nil {
			return err
		}
	}
	plain := map[string]bool{}
	for _, e := range entries {
		if !e.IsDir() && strings.HasSuffix(e.Name(), nameSuffix) {
			plain[e.Name()] = true
		}
	}
	below, reallyBelow := prefix(path), prefix(real)
	for _, e := range entries {
		if err := w.entry(below+e.Name(), reallyBelow+e.Name(), e, plain); err != nil {
			return err
		}
	}
	return nil
}

// prefix is what filepath.Join puts before the names in a directory.
func prefix(dir string) string { return strings.TrimSuffix(filepath.Join(dir, "x"), "x") }

func (w *walker) entry(path, real string, e fs.DirEntry, plain map[string]bool) error {
	if e.IsDir() {
		if w.seen[real] {
			return nil
		}
		w.seen[real] = true
		return w.dir(path, real)
	}
	name := e.Name()
	wanted := IsSession(name)
	if e.Type()&fs.ModeSymlink != 0 {
		info, err := os.Stat(path)
		switch {
		case err != nil && !wanted && !errors.Is(err, syscall.ELOOP):
			return nil // a dangling link that is not named like a session
		case errors.Is(err, syscall.ELOOP):
			return w.visit(Entry{Path: path, Err: ErrLoop})
		case err != nil:
			return w.visit(Entry{Path: path, Err: disk.CauseAt(path, err)})
		case info.IsDir():
			return w.link(path, filepath.Dir(real))
		}
	}
	if !wanted {
		return nil
	}
	base, zst := strings.CutSuffix(name, zstSuffix)
	return w.visit(Entry{Path: path, Hidden: zst && plain[base]})
}

// link follows a symbolic link to a directory, unless the walk visits that directory anyway.
func (w *walker) link(path, parent string) error {
	target, err := filepath.EvalSymlinks(path)
	if err == nil {
		target, err = filepath.Abs(target)
	}
	if err != nil {
		return w.visit(Entry{Path: path, Err: disk.Cause(err)})
	}
	if Within(parent, target) {
		return w.visit(Entry{Path: path, Err: fmt.Errorf("%w: it leads back to %s", ErrLoop, target)})
	}
	for _, top := range w.tops {
		if Within(target, top) {
			return nil
		}
	}
	if w.seen[target] {
		return nil
	}
	w.seen[target] = true
	w.tops = append(w.tops, target)
	return w.dir(path, target)
}

// Within says whether path is dir or below it; both are real paths.
func Within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// The endings of session files' names.
const (
	nameSuffix = ".jsonl"
	zstSuffix  = ".zst"
)

// IsSession says whether a file is named as a session is: X.jsonl, or X.jsonl.zst.
func IsSession(name string) bool {
	return strings.HasSuffix(strings.TrimSuffix(name, zstSuffix), nameSuffix)
}
