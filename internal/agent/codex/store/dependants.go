package store

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/hist-cli/hist/internal/agent/codex"
	codexhome "github.com/hist-cli/hist/internal/agent/codex/home"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/internal/walk"
)

// Dependant is a rollout that continues another one's bytes.
type Dependant struct {
	Path   string
	Offset int64 // it relies on the bytes of the other before this one
}

// Dependants lists the rollouts of a home, archived and compressed ones too, whose history_base names the rollout.
// A rollout whose header can't be read is passed over: its client can't follow it either.
func Dependants(ctx context.Context, home, rolloutID string) ([]Dependant, error) {
	var found []Dependant
	for _, root := range codexhome.Sessions(home) {
		err := walk.Walk(ctx, root, func(e walk.Entry) error {
			if e.Err != nil || e.Hidden {
				return nil
			}
			h, ok := header(ctx, e.Path)
			if ok && h.BaseThread == rolloutID {
				found = append(found, Dependant{e.Path, h.BaseOffset})
			}
			return ctx.Err()
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

func header(ctx context.Context, path string) (codex.Header, bool) {
	src, err := source.Open(path)
	if err != nil {
		return codex.Header{}, false
	}
	r, err := src.Reader(ctx)
	if err != nil {
		return codex.Header{}, false
	}
	defer r.Close()
	line, err := jsonl.NewReader(r).Next()
	if err != nil {
		return codex.Header{}, false
	}
	return codex.ReadHeader(line.Raw), true
}

// RolloutID is the id under which a rollout's projection and its dependants know it: the last id in its name.
func RolloutID(path string) (string, error) {
	n, ok := codexhome.ParseName(filepath.Base(path))
	if !ok {
		return "", errors.New("no rollout's name")
	}
	return n.RolloutID, nil
}
