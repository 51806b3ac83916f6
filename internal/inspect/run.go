package inspect

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/lint"
)

// Run looks at the sessions of one command. It opens each home once, so it must not outlive what it has read of them. Its methods may be
// called from several goroutines.
type Run struct {
	Copies *Copies
	cache  *Cache

	mu    sync.Mutex
	homes map[string]*Home
	whole map[string]bool           // the homes whose sessions were all asked for
	among map[string][]lint.Finding // by the session's path: what the other sessions of its home, or the home as a whole, say of it
	gone  []agent.Said              // about sessions whose file does not exist
}

// NewRun returns a Run that takes from a cache what has not changed; nil: nothing.
func NewRun(cache *Cache) *Run {
	return &Run{Copies: NewCopies(), cache: cache, homes: map[string]*Home{}, whole: map[string]bool{}, among: map[string][]lint.Finding{}}
}

// Whole prepares for linting all sessions of homes: it reads the heads and tails of those at these paths, by home, so that each can be
// compared with the others when its turn comes. What can't be read is told when it is linted.
func (r *Run) Whole(ctx context.Context, in map[string][]string) {
	for dir, paths := range in {
		r.whole[dir] = true
		maps.Copy(r.among, r.cache.Lost(ctx, paths))
		named := map[string]string{}
		for _, p := range paths {
			if abs, err := filepath.Abs(p); err == nil {
				named[abs] = p
			}
		}
		for _, s := range saidOf(dir) {
			if path, ok := named[s.Path]; ok {
				r.among[path] = append(r.among[path], s.Finding)
			} else if s.Finding.Impact > lint.Notes {
				r.gone = append(r.gone, s)
			}
		}
	}
}

// Lint lints a session, with what its home (opts.Home, "" if it lies in none) keeps of it, and compares it with that. With a BesideError the
// result is what was found in the session itself. One that could not be read to its end is compared with nothing.
func (r *Run) Lint(ctx context.Context, src *source.Source, opts lint.Options) (*lint.Result, error) {
	if opts.Listed != nil {
		opts.Listed = listedIn(ctx)
	}
	res, err := r.cache.Lint(ctx, src, opts)
	if err != nil || res.Summary.Partial != nil {
		return res, err
	}
	return res, r.compare(ctx, src, opts.Home, res)
}

// KnownSound is Lint of a session of which the cache knows that nothing is wrong in it, without opening it; of others the result is nil.
// opts may say that the session is not in use although that was not looked at (see Cache.KnownHealthy).
func (r *Run) KnownSound(ctx context.Context, src *source.Source, opts lint.Options) (*lint.Result, error) {
	res := r.cache.KnownHealthy(ctx, src, opts)
	if res == nil || res.Summary.Partial != nil {
		return res, nil
	}
	return res, r.compare(ctx, src, opts.Home, res)
}

// compare adds to what was found in a session what is wrong between it and what lies beside it. Its error is a BesideError.
func (r *Run) compare(ctx context.Context, src *source.Source, dir string, res *lint.Result) error {
	if dir == "" {
		return nil
	}
	home := r.home(ctx, dir)
	found, err := home.Session(ctx, src, res)
	if err == nil && r.whole[dir] {
		var listed []lint.Finding
		listed, err = home.Listed(ctx, src)
		found = slices.Concat(found, listed, r.among[src.Path])
	}
	if err != nil {
		return &BesideError{dir, err}
	}
	Add(res, append(found, typedLater(ctx, src, home, dir, res, r.cache.Glance)...))
	return nil
}

// home is the home at a directory.
func (r *Run) home(ctx context.Context, dir string) *Home {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.homes[dir] == nil {
		r.homes[dir] = OpenHome(ctx, dir)
		r.homes[dir].Remember(r.cache.Agreed)
	}
	return r.homes[dir]
}

// Outside is what is wrong in a home outside of the sessions that are there.
type Outside struct {
	Path     string // what the findings are about: a client's list, or a session whose file does not exist
	Findings []lint.Finding
	Err      error // a BesideError
}

// Outside lists what is wrong with the lists of threads of the homes that were asked for as a whole, and with sessions that exist only there.
func (r *Run) Outside(ctx context.Context) (list []Outside) {
	for _, dir := range slices.Sorted(maps.Keys(r.whole)) {
		path, found, err := r.home(ctx, dir).Index()
		if err != nil {
			err = &BesideError{dir, err}
		}
		if len(found) > 0 || err != nil {
			list = append(list, Outside{path, found, err})
		}
	}
	for _, said := range r.gone {
		list = append(list, Outside{said.Path, []lint.Finding{said.Finding}, nil})
	}
	return list
}

// BesideError says that a session was linted, but could not be compared with what its client keeps beside it.
type BesideError struct {
	Home string // the directory
	Err  error
}

// Error names the home, and why.
func (e *BesideError) Error() string {
	return fmt.Sprintf("%s: not compared with what its client keeps beside it: %v", e.Home, e.Err)
}

// Unwrap is why.
func (e *BesideError) Unwrap() error { return e.Err }
