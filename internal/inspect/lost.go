package inspect

import (
	"context"

	"github.com/hist-cli/hist/internal/timeline"
	"github.com/hist-cli/hist/lint"
)

// Lost is timeline.Lost of the sessions of a home, which are at these paths: only those that have changed are read. One that can't be
// read is left out.
func (c *Cache) Lost(ctx context.Context, paths []string) map[string][]lint.Finding {
	var sessions []*timeline.Glance
	for _, r := range timeline.LookManyBy(paths, func(path string) (*timeline.Glance, error) { return c.Glance(ctx, path) }) {
		if r.Err == nil {
			sessions = append(sessions, r.Session)
		}
	}
	return timeline.Lost(ctx, sessions)
}
