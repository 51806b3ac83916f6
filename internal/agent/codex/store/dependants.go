package store

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/agent/codex"
	codexhome "github.com/hist-cli/hist/internal/agent/codex/home"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/internal/walk"
)

// Dependants lists the rollouts of a home, archived and compressed ones too, whose history_base names the rollout.
// A rollout whose header can't be read is passed over: its client can't follow it either.
func Dependants(ctx context.Context, home, rolloutID string) ([]agent.Dependant, error) {
	var found []agent.Dependant
	for _, root := range codexhome.Sessions(home) {
		err := walk.Walk(ctx, root, func(e walk.Entry) error {
			if e.Err != nil || e.Hidden {
				return nil
			}
			h, ok := header(ctx, e.Path)
			if ok && h.BaseThread == rolloutID {
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

func header(ctx context.Context, path string) (codex.Header, bool) {
	line, ok := firstLine(ctx, path)
	return codex.ReadHeader(line), ok
}

func firstLine(ctx context.Context, path string) ([]byte, bool) {
	src, err := source.Open(path)
	if err != nil {
		return nil, false
	}
	defer src.Close()
	r, err := src.Reader(ctx)
	if err != nil {
		return nil, false
	}
	defer r.Close()
	line, err := jsonl.NewReader(r).Next()
	return line.Raw, err == nil
}

// RolloutID is the id under which a rollout's projection and its dependants know it: the last id in its name.
func RolloutID(path string) (string, error) {
	n, ok := codexhome.ParseName(filepath.Base(path))
	if !ok {
		return "", errors.New("no rollout's name")
	}
	return n.RolloutID, nil
}
