package cmd

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/agent/homes"
	"github.com/hist-cli/hist/internal/copies"
	"github.com/hist-cli/hist/internal/lintcache"
	"github.com/hist-cli/hist/internal/shard"
	"github.com/hist-cli/hist/lint"
)

// openHomes are the agents' homes of the linted sessions.
type openHomes struct {
	mu     sync.Mutex
	open   map[string]*homes.Home
	all    map[string]bool           // the homes whose sessions were all asked for
	lost   map[string][]lint.Finding // by the session's path: findings about threads that replaced it, and others from the home as a whole
	gone   []agent.Said              // findings about sessions whose file does not exist
	copies *copies.Copies
	cache  *lintcache.Cache
	told   map[string]bool // errors that were reported already, so that they are not repeated for every session
}

func newOpenHomes() *openHomes {
	return &openHomes{open: map[string]*homes.Home{}, all: map[string]bool{}, copies: copies.New(), told: map[string]bool{}}
}

// compare reads the heads and tails of all sessions of each home that was asked for as a whole, so that each session can be
// compared with the others when its turn comes.
func (h *openHomes) compare(ctx context.Context, list []target, cache *lintcache.Cache) {
	in := map[string][]string{}
	for _, t := range list {
		if t.all && t.err == nil {
			in[t.home] = append(in[t.home], t.path)
		}
	}
	h.cache, h.lost = cache, map[string][]lint.Finding{}
	for dir, paths := range in {
		h.all[dir] = true
		maps.Copy(h.lost, cache.Lost(ctx, paths)) // what can't be read is reported when it is linted
		h.inspect(dir, paths)
	}
}

// inspect takes an agent's findings about the sessions of a home as a whole. Those about the sessions at these paths are kept
// with the sessions' other findings.
func (h *openHomes) inspect(dir string, paths []string) {
	named := map[string]string{}
	for _, p := range paths {
		if abs, err := filepath.Abs(p); err == nil {
			named[abs] = p
		}
	}
	for _, s := range homes.Inspect(dir) {
		if path, ok := named[s.Path]; ok {
			h.lost[path] = append(h.lost[path], s.Finding)
		} else if s.Finding.Impact > lint.Notes {
			h.gone = append(h.gone, s)
		}
	}
}

// of returns the home of a target.
func (h *openHomes) of(ctx context.Context, t target) *homes.Home {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.open[t.home] == nil {
		h.open[t.home] = homes.Open(ctx, t.home)
		h.open[t.home].Remember(h.cache.Agreed)
	}
	return h.open[t.home]
}

// look adds to the findings of a session what is wrong between it and its neighbours. An error that prevents this is reported
// once for all sessions.
func (h *openHomes) look(ctx context.Context, r *linted) error {
	if err := h.add(ctx, r); err != nil {
		return h.once(err)
	}
	return nil
}

// add is look, but returns an error each time.
func (h *openHomes) add(ctx context.Context, r *linted) error {
	if r.target.home == "" {
		return nil
	}
	in := h.of(ctx, r.target)
	found, err := in.Session(ctx, r.src, r.result)
	if err == nil && r.target.all {
		var listed []lint.Finding
		listed, err = in.Listed(ctx, r.src)
		found = slices.Concat(found, listed, h.lost[r.target.path])
	}
	if err != nil {
		return fmt.Errorf("%s: not compared with what its client keeps beside it: %w", r.target.home, err)
	}
	homes.Add(r.result, found)
	return nil
}

// once returns an error the first time, and then nil.
func (h *openHomes) once(err error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.told[err.Error()] {
		return nil
	}
	h.told[err.Error()] = true
	return err
}

// whole yields the findings about the lists of threads of the homes that were asked for as a whole. Each list belongs to one
// shard.
func (h *openHomes) whole(ctx context.Context, part shard.Shard) []linted {
	var list []linted
	for _, dir := range slices.Sorted(maps.Keys(h.all)) {
		path, found, err := h.of(ctx, target{home: dir}).Index()
		if !part.Owns(path) {
			continue
		}
		if err != nil {
			err = h.once(fmt.Errorf("%s: not compared with what its client keeps beside it: %w", dir, err))
		}
		if len(found) > 0 || err != nil {
			list = append(list, linted{target: target{path: path}, result: &lint.Result{Findings: found}, err: err, beside: true})
		}
	}
	for _, said := range h.gone {
		if part.Owns(said.Path) {
			list = append(list, linted{target: target{path: said.Path}, result: &lint.Result{Findings: []lint.Finding{said.Finding}}, beside: true})
		}
	}
	return list
}
