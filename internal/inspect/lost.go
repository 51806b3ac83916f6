package inspect

import (
	"context"

	"github.com/hist-cli/hist/internal/glance"
	"github.com/hist-cli/hist/lint"
)

// Lost is glance.Lost of the sessions of a home, which are at these paths: only those that have changed are read. One that can't be
// read is left out.
func (c *Cache) Lost(ctx context.Context, paths []string) map[string][]lint.Finding {
	var sessions []*glance.Session
	for _, r := range glance.ManyBy(paths, func(path string) (*glance.Session, error) { return c.Glance(ctx, path) }) {
		if r.Err == nil {
			sessions = append(sessions, r.Session)
		}
	}
	return glance.Lost(ctx, sessions)
}
