package preresume

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/inspect"
	"github.com/hist-cli/hist/internal/timeline"
)

// Last finds the session that the home's client means by --last: the last one of a directory, or of all directories if cwd
// is empty; nil if there is none. Archived sessions and those of sub-agents do not count. Sessions that no person began, as
// those of a command that runs one turn and ends, count only with any: codex resume skips them, codex exec resume does not.
//
// Codex's versions differ (measured with 0.79.0, 0.114.0, 0.130.0, 0.145.0, 0.153.0, 0.160.0 and 0.169.0): the oldest take the
// session that was begun last; others the one whose file was changed last; 0.114, and 0.153 and later, the one that was
// updated last in their list of threads. Files that the client has not written itself are not in that list, and threads
// for which it holds no prompt are skipped.
func Last(ctx context.Context, homeDir, cwd string, any bool) (*timeline.Glance, error) {
	list := inspect.OpenHome(ctx, homeDir)
	threads, err := list.Threads(ctx)
	if err != nil && ctx.Err() != nil { // if the list can't be read, or its form is unknown, the files decide
		return nil, err
	}
	wanted := func(g *timeline.Glance) bool {
		return (cwd == "" || worksIn(g, cwd)) && (any || interactive(g))
	}
	if list.LastIsListed(threads) {
		return lastListed(ctx, threads, wanted)
	}
	return find(ctx, homeDir, threads == nil && err == nil, wanted)
}

// lastListed finds the last of the threads in a client's list. Of two that were updated at the same time (0.114 counts in
// seconds), clients take the one with the greater id (measured with 0.114.0 and 0.169.0), which began later.
func lastListed(ctx context.Context, threads []agent.Thread, wanted func(*timeline.Glance) bool) (*timeline.Glance, error) {
	slices.SortFunc(threads, func(a, b agent.Thread) int {
		return cmp.Or(b.Updated.Compare(a.Updated), strings.Compare(b.ID, a.ID))
	})
	for _, t := range threads {
		if t.Archived || t.Unasked || t.Subagent {
			continue
		}
		g, err := timeline.Look(ctx, t.Path, timeline.LookOptions{})
		if err != nil {
			if ctx.Err() != nil {
				return nil, err
			}
			continue // it is gone or can't be read; asking for this session says why
		}
		if wanted(g) {
			return g, nil
		}
	}
	return nil, nil
}

// ofSubagent says whether another session's agent began a session, interactive whether a person did.
func ofSubagent(g *timeline.Glance) bool {
	return g.Agent.OfSubagent != nil && g.Agent.OfSubagent(g.Header)
}

func interactive(g *timeline.Glance) bool {
	return g.Agent.Interactive == nil || g.Agent.Interactive(g.Header)
}

// worksIn says whether a session works in a directory, or began there.
func worksIn(g *timeline.Glance, cwd string) bool {
	if g.CWD == cwd || g.Header.CWD == cwd {
		return true
	}
	real, err := filepath.EvalSymlinks(cwd) // clients write the path with links resolved
	return err == nil && (g.CWD == real || g.Header.CWD == real)
}
