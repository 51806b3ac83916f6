package preresume

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/inspect"
	"github.com/hist-cli/hist/internal/timeline"
	"github.com/hist-cli/hist/internal/walk"
	"github.com/hist-cli/hist/lint"
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

// find returns the wanted session that was changed last or, with byBegin, begun last. Sub-agents' sessions do not count.
func find(ctx context.Context, homeDir string, byBegin bool, wanted func(*timeline.Glance) bool) (*timeline.Glance, error) {
	files, err := newest(ctx, homeDir)
	if err != nil {
		return nil, err
	}
	if byBegin {
		slices.SortStableFunc(files, func(a, b file) int { return strings.Compare(b.name.Time, a.name.Time) })
	}
	for _, f := range files {
		g, err := timeline.Look(ctx, f.path, timeline.LookOptions{})
		if err != nil {
			if ctx.Err() != nil {
				return nil, err
			}
			continue // it can't be read; asking for this session says why
		}
		if !ofSubagent(g) && wanted(g) {
			return g, nil
		}
	}
	return nil, nil
}

// Replaceable finds the newest thread that works in a directory and whose last turn failed, never ended or got no answer: a
// new thread there would replace it. It is nil if there is none.
func Replaceable(ctx context.Context, homeDir, cwd string) (*Lost, error) {
	g, err := find(ctx, homeDir, false, func(g *timeline.Glance) bool { return worksIn(g, cwd) && timeline.WentWrong(g) })
	if g == nil || err != nil {
		return nil, err
	}
	return &Lost{Thread: g.Thread, Path: g.Path, State: string(g.Turn.State), Last: stamp(g.Turn.Last), Resume: g.Resume()}, nil
}

// file is a session's file and when it was changed.
type file struct {
	path    string
	name    lint.Name
	changed time.Time
}

// newest lists the sessions of a home that are not archived, the one that was changed last first.
func newest(ctx context.Context, homeDir string) ([]file, error) {
	var files []file
	root := all.LiveSessions(homeDir)
	if root == "" {
		return nil, nil
	}
	err := walk.Walk(ctx, root, func(e walk.Entry) error {
		name := lint.NameOf(e.Path, true)
		if e.Err != nil || e.Hidden || !name.Canonical {
			return nil
		}
		if info, err := os.Stat(e.Path); err == nil {
			files = append(files, file{e.Path, name, info.ModTime()})
		}
		return nil
	})
	slices.SortStableFunc(files, func(a, b file) int { return b.changed.Compare(a.changed) })
	return files, err
}

// maxNear is how many sessions that were changed after this one began are read.
const maxNear = 50

// related lists the threads that are related to a session: the one that it was forked from or continues, and any that was
// begun to replace it without its context, or that it was begun to replace.
func related(ctx context.Context, homeDir string, g *timeline.Glance) ([]Related, error) {
	list := []Related{}
	files, err := newest(ctx, homeDir)
	if err != nil {
		return nil, err
	}
	if base := g.Header.BaseThread; base != "" {
		list = append(list, Related{Relation: "continues", Thread: base, Resume: resume(ctx, g, files, base)})
	} else if from := g.Header.ForkedFrom; from != "" {
		fork := Related{Relation: "fork_of", Thread: from}
		if !strings.EqualFold(inspect.NewCopies().Original(g.Path), from) { // nobody should go on with the damaged original of a repaired copy
			fork.Resume = resume(ctx, g, files, from)
		}
		list = append(list, fork)
	}
	looked := 0
	for _, f := range files {
		// A thread that was last changed before this one began can only have been replaced by it, and only if that was not
		// long before.
		if f.name.ThreadID == g.Thread || f.changed.Before(g.Created.Add(-time.Hour)) || looked == maxNear {
			continue
		}
		looked++
		other, err := timeline.Look(ctx, f.path, timeline.LookOptions{})
		if err != nil {
			if ctx.Err() != nil {
				return nil, err
			}
			continue
		}
		switch {
		case timeline.Replaced(g, other):
			list = append(list, Related{Relation: "replaced_by", Thread: other.Thread, Path: other.Path, Resume: other.Resume()})
		case timeline.Replaced(other, g):
			list = append(list, Related{Relation: "replaces", Thread: other.Thread, Path: other.Path, Resume: other.Resume()})
		}
	}
	return list, nil
}

// resume is the command that resumes the thread that a session comes from. A sub-agent's is that of its parent.
func resume(ctx context.Context, g *timeline.Glance, files []file, thread string) []string {
	if i := slices.IndexFunc(files, func(f file) bool { return f.name.ThreadID == thread }); i >= 0 {
		if from, err := timeline.Look(ctx, files[i].path, timeline.LookOptions{}); err == nil {
			return from.Resume()
		}
	}
	return g.Agent.Resume(cmp.Or(g.Header.ResumedBy, thread))
}
