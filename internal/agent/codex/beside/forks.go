package beside

import (
	"context"
	"errors"
	"path/filepath"
	"sync"

	"github.com/hist-cli/hist/internal/agent/codex/home"
	"github.com/hist-cli/hist/internal/walk"
)

// Forks knows which sessions of a home were forked from which, and which files hold one thread. It reads the headers of a home
// once, when first asked, so one value serves a run over many sessions, and should not be kept longer. Its methods may be
// called from several goroutines.
type Forks struct {
	mu    sync.Mutex
	homes map[string]headers
}

// headers are the files of a home by what their headers say.
type headers struct {
	forks map[string][]string // files, by the thread that they were forked from
	files map[string][]string // files, by their own thread
}

// NewForks returns a Forks that has read nothing yet.
func NewForks() *Forks { return &Forks{homes: map[string]headers{}} }

// maxForks is up to how many sessions of a home are asked whose forks they are.
const maxForks = 4096

// errEnough says that no more is wanted, of a walk or of rows.
var errEnough = errors.New("enough")

// of are the files of the sessions that were forked from a thread.
func (f *Forks) of(ctx context.Context, dir, thread string) []string {
	return f.in(ctx, dir).forks[thread]
}

// copies are the files that hold the same rollout as a session with that name, whatever their own name and folder: what a
// synchronisation leaves of two that disagree, or somebody's copy.
func (f *Forks) copies(ctx context.Context, dir string, of home.FileName) (list []string) {
	for _, path := range f.in(ctx, dir).files[of.ThreadID] {
		name, ok := home.ParseName(filepath.Base(path))
		if ok && name.RolloutID == of.RolloutID || !ok && of.RolloutID == of.ThreadID {
			list = append(list, path)
		}
	}
	return list
}

func (f *Forks) in(ctx context.Context, dir string) headers {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.homes[dir].forks == nil {
		f.homes[dir] = headersIn(ctx, dir)
	}
	return f.homes[dir]
}

func headersIn(ctx context.Context, dir string) headers {
	all := headers{forks: map[string][]string{}, files: map[string][]string{}}
	n := 0
	for _, root := range home.Sessions(dir) {
		err := walk.Walk(ctx, root, func(e walk.Entry) error {
			if n++; n > maxForks {
				return errEnough
			}
			if e.Err != nil {
				return nil
			}
			h, ok := headerOf(ctx, e.Path)
			if ok && h.ForkedFrom != "" {
				all.forks[h.ForkedFrom] = append(all.forks[h.ForkedFrom], e.Path)
			}
			if ok {
				all.files[h.ID] = append(all.files[h.ID], e.Path)
			}
			return nil
		})
		if err != nil {
			break
		}
	}
	return all
}
