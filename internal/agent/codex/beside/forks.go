package beside

import (
	"context"
	"errors"
	"sync"

	"github.com/hist-cli/hist/internal/agent/codex/home"
	"github.com/hist-cli/hist/internal/walk"
)

// Forks knows which sessions of a home were forked from which. It reads their headers once, when it is first asked for a
// home: one is for a run over many sessions, and not for longer. Its methods may be called from several goroutines.
type Forks struct {
	mu    sync.Mutex
	homes map[string]map[string][]string // by the home and the thread
}

// NewForks knows nothing yet.
func NewForks() *Forks { return &Forks{homes: map[string]map[string][]string{}} }

// maxForks is how many sessions of a home are asked whose forks they are.
const maxForks = 4096

var errEnough = errors.New("enough")

// of are the files of the sessions that were forked from a thread.
func (f *Forks) of(ctx context.Context, dir, thread string) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.homes[dir] == nil {
		f.homes[dir] = forksIn(ctx, dir)
	}
	return f.homes[dir][thread]
}

func forksIn(ctx context.Context, dir string) map[string][]string {
	forks := map[string][]string{}
	n := 0
	for _, root := range home.Sessions(dir) {
		err := walk.Walk(ctx, root, func(e walk.Entry) error {
			if n++; n > maxForks {
				return errEnough
			}
			if e.Err != nil {
				return nil
			}
			if h, ok := headerOf(ctx, e.Path); ok && h.ForkedFrom != "" {
				forks[h.ForkedFrom] = append(forks[h.ForkedFrom], e.Path)
			}
			return nil
		})
		if err != nil {
			break
		}
	}
	return forks
}
