package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/internal/timeline"
	"github.com/hist-cli/hist/internal/walk"
	"github.com/hist-cli/hist/lint"
)

// targets is the function targets, for a command that takes all sessions. Files in an agent's home that are not sessions are
// skipped, which is said in one line; if a user names such a file, it is looked at.
func (e *env) targets(ctx context.Context, operands []string, only string) ([]target, error) {
	list, err := targets(ctx, operands, only)
	if err != nil || len(operands) > 0 {
		return list, err
	}
	var sessions []target
	var first error
	strays := int64(0)
	for _, t := range list {
		err := stray(ctx, t)
		if err == nil {
			sessions = append(sessions, t)
			continue
		}
		if strays++; first == nil {
			first = err
		}
	}
	if strays == 0 {
		return list, nil
	}
	text := "skipped what is not a session: " + first.Error()
	if strays > 1 {
		text += fmt.Sprintf("; and %d more", strays-1)
	}
	e.complain(text)
	if len(sessions) == 0 {
		homes, err := defaultHomes(only)
		if err != nil {
			return nil, err
		}
		sessions = append(sessions, noSessions(homes))
	}
	return sessions, nil
}

// stray says why a file found in a home is not a session, nil if it may be one. A file that has a session's name is one,
// however damaged; so is one that is a part of a session. A directory that can't be read may hold sessions.
func stray(ctx context.Context, t target) error {
	if lint.NameOf(t.path, true).Canonical || all.Part(t.path) {
		return nil
	}
	if t.err != nil {
		if errors.Is(t.err, walk.ErrLoop) || errors.Is(t.err, fs.ErrNotExist) {
			return t.err
		}
		return nil
	}
	_, err := timeline.Look(ctx, t.path, timeline.LookOptions{})
	if errors.Is(err, lint.ErrUnclaimed) || errors.Is(err, source.ErrNotRegular) || errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}
