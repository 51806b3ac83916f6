package lint

import (
	"context"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/internal/source"
)

// Parents finds the texts of the sessions of a home that one inherits from, by the id that it names, each as far as it is inherited; nil if
// its agent has no home, or it lies in none. about is what the session says of itself.
func Parents(ctx context.Context, a *agent.Agent, home string, about session.Info) func(id string) []byte {
	if a.Home == nil || home == "" {
		return nil
	}
	return func(id string) []byte {
		paths, err := a.Find(ctx, home, id)
		if err != nil || len(paths) != 1 {
			return nil
		}
		text, err := source.Head(ctx, paths[0], maxReread+1)
		if err != nil || len(text) > maxReread {
			return nil
		}
		if id == about.BaseThread && about.BaseOffset > 0 && about.BaseOffset <= int64(len(text)) {
			text = text[:about.BaseOffset]
		}
		about = a.About(text).Info
		return text
	}
}
