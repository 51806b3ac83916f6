package beside

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/hist-cli/hist/internal/agent"
	codexhome "github.com/hist-cli/hist/internal/agent/codex/home"
	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/internal/walk"
)

// Headers are the headers of a home's rollouts. Each is read once, as long as its file does not change: every repair in place
// asks which sessions rely on the one that it moves. The methods may be called from several goroutines.
type Headers struct {
	mu    sync.Mutex
	known map[string]readHeader // by the file's path
}

// readHeader is the header of a file as it was then.
type readHeader struct {
	file fs.FileInfo
	info session.Info
	ok   bool // it could be read
}

// NewHeaders returns Headers that have read nothing yet.
func NewHeaders() *Headers { return &Headers{known: map[string]readHeader{}} }

// Dependants lists the rollouts of a home, including archived and compressed ones, whose history_base names the rollout at a path. One
// whose header can't be read is left out: its client can't follow it, either.
func (hs *Headers) Dependants(ctx context.Context, home, path string) (found []agent.Dependant, err error) {
	id, err := RolloutID(path)
	if err != nil {
		return nil, nil //nolint:nilerr // nothing can point to it
	}
	for _, root := range codexhome.Sessions(home) {
		err := walk.Walk(ctx, root, func(e walk.Entry) error {
			if e.Err != nil || e.Hidden {
				return nil
			}
			h, ok := hs.of(ctx, e.Path)
			if ok && h.BaseThread == id {
				found = append(found, agent.Dependant{Path: e.Path, Offset: h.BaseOffset})
			}
			return ctx.Err()
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// of is the header of a file as it is now.
func (hs *Headers) of(ctx context.Context, path string) (session.Info, bool) {
	now, err := os.Stat(path)
	if err != nil {
		return session.Info{}, false
	}
	hs.mu.Lock()
	defer hs.mu.Unlock()
	h, read := hs.known[path]
	if !read || !os.SameFile(h.file, now) || h.file.Size() != now.Size() || !h.file.ModTime().Equal(now.ModTime()) {
		info, ok := headerAt(ctx, path)
		h = readHeader{now, info, ok}
		if ctx.Err() == nil {
			hs.known[path] = h
		}
	}
	return h.info, h.ok
}

// RolloutID is the id under which a rollout's projection and its dependants know it: the last id in its name.
func RolloutID(path string) (string, error) {
	n, ok := codexhome.ParseName(filepath.Base(path))
	if !ok {
		return "", errors.New("no rollout's name")
	}
	return n.RolloutID, nil
}
