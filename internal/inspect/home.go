package inspect

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"sync"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/agent/codex/beside"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/disk"
	"github.com/hist-cli/hist/internal/runs"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/lint"
)

// Home is what the client keeps at a directory beside its sessions. Its methods may be called from several goroutines; those that
// compare only read, and wait for nobody.
type Home = beside.Home

// OpenHome returns the home at dir; what it needs of it is read when it is first asked for. Of a session that another agent
// than Codex wrote it says nothing: its name is none that Codex knows.
func OpenHome(ctx context.Context, dir string) *Home { return beside.Open(ctx, dir) }

// Kept reads what a home keeps a second time of a session: it is what lint.Options.Kept takes.
func Kept(ctx context.Context, agent, home, base string) check.Kept {
	return KeptOfMany()(ctx, agent, home, base)
}

// KeptOfMany is a Kept for a run over many sessions: what it must know of a home as a whole it learns once.
func KeptOfMany() check.KeptBy {
	forks, older := beside.NewForks(), sync.OnceValue(keptInRuns)
	return func(ctx context.Context, agent, home, base string) check.Kept {
		if agent != codex.Name {
			return nil
		}
		return beside.Kept(ctx, home, base, func() []string { return older()[keptAs{home, base}] }, forks)
	}
}

// DependantsOfMany is for a run over many sessions: it reads each header of a home once.
func DependantsOfMany() agent.DependantsBy {
	return beside.NewHeaders().Dependants
}

// keptAs is a session of a home, by its file's name.
type keptAs struct{ home, base string }

// keptInRuns are the files in which repairs kept sessions as they were, the newest first.
func keptInRuns() map[keptAs][]string {
	list, err := runs.List()
	if err != nil {
		return nil // what can't be read of a run is told by those who undo it
	}
	dir, err := runs.Dir()
	if err != nil {
		return nil
	}
	files := map[keptAs][]string{}
	for _, m := range list {
		for _, f := range m.Files {
			if as := (keptAs{f.Home, filepath.Base(f.Source)}); f.Backup != "" && f.Home != "" && len(files[as]) < maxOlder {
				files[as] = append(files[as], filepath.Join(dir, m.Run, f.Backup))
			}
		}
	}
	return files
}

// maxOlder is how many of them are looked at of a session.
const maxOlder = 8

// Listed reads what a home's list of threads says of one: it is what lint.Options.Listed takes.
func Listed(agent, home, thread string) *check.Listed {
	return listedIn(context.Background())(agent, home, thread)
}

func listedIn(ctx context.Context) func(agent, home, thread string) *check.Listed {
	return func(agent, home, thread string) *check.Listed {
		if agent != codex.Name || home == "" {
			return nil
		}
		return beside.Listed(ctx, home, thread)
	}
}

// Lint is Run.Lint of a single session, read anew.
func Lint(ctx context.Context, src *source.Source, opts lint.Options) (*lint.Result, error) {
	if opts.Kept == nil {
		opts.Kept = Kept
	}
	opts.Listed = Listed // not nil: Run.Lint asks it in its context
	return NewRun(nil).Lint(ctx, src, opts)
}

// LintUsed is Lint for a session of which it is known who uses it: busy is nil if nobody does.
func LintUsed(ctx context.Context, src *source.Source, opts lint.Options, busy *disk.Busy) (*lint.Result, error) {
	res, err := lint.Source(ctx, src, opts)
	if err != nil || opts.Home == "" || res.Summary.Partial != nil {
		return res, err
	}
	home := OpenHome(ctx, opts.Home)
	found, err := home.Used(ctx, src, res, busy)
	if err != nil {
		return res, &BesideError{opts.Home, err}
	}
	if busy == nil {
		found = append(found, typedLater(ctx, src, home, opts.Home, res, (*Cache)(nil).Glance)...)
	}
	Add(res, found)
	return res, nil
}

// Rows is a fingerprint of the rows of a database that are about the session whose file has this name.
func Rows(ctx context.Context, d agent.Database, base string) ([16]byte, error) {
	return beside.RowsSum(ctx, d.Home, filepath.Base(d.Files[0]), d.Key(base))
}

// saidOf is what agents say of the sessions of a home when they look at it as a whole.
func saidOf(dir string) (list []agent.Said) {
	for _, h := range all.Homed() {
		if h.Inspect != nil && h.Live(dir) != "" {
			list = append(list, h.Inspect(dir)...)
		}
	}
	return list
}

// Add puts findings about what lies beside a session among those in it, each in its place.
func Add(res *lint.Result, found []lint.Finding) {
	res.Findings = append(res.Findings, found...)
	slices.SortStableFunc(res.Findings, func(a, b lint.Finding) int { return cmp.Compare(a.Pos.Line, b.Pos.Line) })
}
