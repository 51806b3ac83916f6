// Package copies knows which sessions have repaired copies beside them, and what lint should say about such a session. In:
// the records of runs and what lint found. It reads sessions, and writes nothing.
package copies

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/format"
	"github.com/hist-cli/hist/internal/runs"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/lint"
)

// Copies knows, from the records of runs, the repaired copies that were made beside their originals. Its methods may be
// called from several goroutines.
type Copies struct {
	byOriginal func() map[string][]runs.File // by the original's real path
	originals  func() map[string]string      // the originals' real paths, by the copies'
}

// New returns Copies that read the records of runs when they are first needed.
func New() *Copies {
	byOriginal := sync.OnceValue(readRuns)
	return &Copies{byOriginal, sync.OnceValue(func() map[string]string {
		by := map[string]string{}
		for original, files := range byOriginal() {
			for _, f := range files {
				by[f.Target] = original
			}
		}
		return by
	})}
}

// readRuns lists the copies that were made and are not taken back, by their originals' real paths, the newest first.
func readRuns() map[string][]runs.File {
	by := map[string][]runs.File{}
	list, _ := runs.List() // of a record that can't be read no copies are known
	for _, m := range list {
		for _, f := range m.Files {
			if f.Mode == runs.NewThread && f.Published && !f.Undone {
				by[f.Source] = append(by[f.Source], f)
			}
		}
	}
	return by
}

// Of returns the thread id of the newest repaired copy of a session, "" if there is none. A copy counts if it still exists
// and the session still has the bytes that were repaired.
func (c *Copies) Of(ctx context.Context, real string, size int64) string {
	hash := ""
	for _, f := range c.byOriginal()[real] {
		name := lint.NameOf(f.Target, true)
		if _, err := os.Stat(f.Target); !name.Canonical || err != nil || f.SizeBefore != size {
			continue
		}
		if hash == "" {
			var err error
			if hash, _, err = runs.Hash(ctx, real); err != nil {
				return ""
			}
		}
		if hash == f.SHA256Before {
			return name.ThreadID
		}
	}
	return ""
}

// Original returns the id of the thread of which a session is the repaired copy, "" if it is not a copy.
func (c *Copies) Original(path string) string {
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		return ""
	}
	if name := lint.NameOf(c.originals()[real], true); name.Canonical {
		return name.ThreadID
	}
	return ""
}

// Settle replaces the findings of a session that has a repaired copy by a note about the copy, because its damage no longer
// matters; its other notes stay. It returns the copy's thread id, "" if there is no copy or nothing was damaged.
func (c *Copies) Settle(ctx context.Context, src *source.Source, res *lint.Result) string {
	if src.Real == "" {
		return ""
	}
	var kept []lint.Finding
	for _, f := range res.Findings {
		if f.Impact == lint.Notes {
			kept = append(kept, f)
		}
	}
	if len(kept) == len(res.Findings) {
		return ""
	}
	id := c.Of(ctx, src.Real, src.Info.Size())
	if id == "" {
		return ""
	}
	res.Findings = append([]lint.Finding{{
		Rule: check.Repaired, Impact: check.Repaired.Impact, Fix: check.Repaired.Fix,
		Message: fmt.Sprintf("repaired as %s; resume that: %s", id, format.Command(all.Named(res.Summary.Agent).Resume(id)...)),
	}}, kept...)
	return id
}
