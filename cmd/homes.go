package cmd

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/hist-cli/hist/internal/glance"
	"github.com/hist-cli/hist/lint"
)

// homes are the agents' homes that the linted sessions lie in.
type homes struct {
	mu   sync.Mutex
	open map[string]*lint.Home
	all  map[string][]string // the sessions of those that were asked for as a whole
	told map[string]bool     // what could not be read of them, so that it is told once and not for every session
}

func newHomes() *homes {
	return &homes{open: map[string]*lint.Home{}, all: map[string][]string{}, told: map[string]bool{}}
}

// of returns the home of a target.
func (h *homes) of(ctx context.Context, t target) *lint.Home {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.open[t.home] == nil {
		h.open[t.home] = lint.OpenHome(ctx, t.home)
	}
	if t.all {
		h.all[t.home] = append(h.all[t.home], t.path)
	}
	return h.open[t.home]
}

// look adds to what was found in a session what is wrong between it and its neighbours.
func (h *homes) look(ctx context.Context, r *linted) error {
	if r.target.home == "" {
		return nil
	}
	in := h.of(ctx, r.target)
	found, err := in.Session(ctx, r.src, r.result)
	if err == nil && r.target.all {
		var listed []lint.Finding
		listed, err = in.Listed(r.src)
		found = append(found, listed...)
	}
	if err != nil {
		return h.once(fmt.Errorf("%s: not compared with what its client keeps beside it: %w", r.target.home, err))
	}
	r.result.Findings = append(r.result.Findings, found...)
	slices.SortStableFunc(r.result.Findings, func(a, b lint.Finding) int { return cmp.Compare(a.Pos.Line, b.Pos.Line) })
	return nil
}

// once returns an error the first time, and then nil.
func (h *homes) once(err error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.told[err.Error()] {
		return nil
	}
	h.told[err.Error()] = true
	return err
}

// whole yields what is wrong with the homes that were asked for as a whole: with their lists of threads, and between
// their sessions.
func (h *homes) whole(ctx context.Context) []linted {
	var list []linted
	for _, dir := range slices.Sorted(maps.Keys(h.all)) {
		path, found, err := h.open[dir].Index()
		if err != nil {
			err = h.once(fmt.Errorf("%s: not compared with what its client keeps beside it: %w", dir, err))
		}
		if len(found) > 0 || err != nil {
			list = append(list, linted{target: target{path: path}, result: &lint.Result{Findings: found}, err: err, beside: true})
		}
		var sessions []*glance.Session
		for _, r := range glance.Many(ctx, h.all[dir], glance.Options{}) {
			if r.Err == nil { // its error was told when it was linted
				sessions = append(sessions, r.Session)
			}
		}
		lost := glance.Lost(sessions)
		for _, path := range slices.Sorted(maps.Keys(lost)) {
			list = append(list, linted{target: target{path: path}, result: &lint.Result{Findings: lost[path]}, beside: true})
		}
	}
	return list
}
