package repair

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/inspect"
)

// tolerateUncompared turns the error of comparing a session with what its client keeps beside it into a note, unless the repair
// would change that, as one in place does.
func (w *job) tolerateUncompared(ctx context.Context, why error) error {
	if w.Mode == InPlace || ctx.Err() != nil {
		return fmt.Errorf("%s: %w", w.Source.Path, why)
	}
	if note := "not compared with what its client keeps beside it: " + why.Error(); !slices.Contains(w.notes, note) {
		w.notes = append(w.notes, note)
	}
	return nil
}

// checkDependants refuses an in-place repair that would move bytes that other sessions rely on.
func (w *job) checkDependants(ctx context.Context) error {
	advice := "repair without --in-place makes a copy that leaves them right"
	switch {
	case w.Operation != nil && w.Operation.Name == "move": // it is in place by nature
		advice = "hist fork " + w.Source.Path + " makes a copy, which can be moved; what was forked stays right"
	case w.Operation != nil:
		advice = "hist " + w.Operation.Name + " without --in-place makes a copy that leaves them right"
	}
	return dependants(ctx, w.Dependants, w.Home, w.Source.Real, w.made.from, advice)
}

// dependants returns an error if other sessions rely on the bytes of a session from an offset on. homeDir is the home that the
// session is in, "" if it is in none; if by is nil, the headers of the home are read.
func dependants(ctx context.Context, by agent.DependantsBy, homeDir, path string, from int64, advice string) error {
	if homeDir == "" {
		return nil
	}
	if by == nil {
		by = inspect.DependantsOfMany()
	}
	list, err := by(ctx, homeDir, path)
	if err != nil {
		return err
	}
	var names []string
	for _, d := range list {
		if from < d.Offset {
			names = append(names, d.Path)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return fmt.Errorf("%w:\n  %s\n%s", ErrDependants, strings.Join(names, "\n  "), advice)
}

// openHome opens the home at a directory. Without a directory it returns nil.
func openHome(ctx context.Context, dir string) *inspect.Home {
	if dir == "" {
		return nil
	}
	return inspect.OpenHome(ctx, dir)
}
