// Package copies tells which sessions have repaired copies beside them, and what is said of such a session. In come the
// records of runs and what lint found; it reads sessions, and writes nothing.
package copies

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/format"
	"github.com/hist-cli/hist/internal/runs"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/lint"
)

// Copies knows the repaired copies that stand beside their originals, from the records of runs. Its methods may be called
// from several goroutines.
type Copies struct {
	by func() map[string][]runs.File // by the original's real path
}

// New reads the records when it is first asked.
func New() *Copies {
	return &Copies{sync.OnceValue(func() map[string][]runs.File {
		by := map[string][]runs.File{}
		list, _ := runs.List() // one that can't be read tells of no copy
		for _, m := range list {
			for _, f := range m.Files {
				if f.Mode == runs.NewThread && f.Published && !f.Undone {
					by[f.Source] = append(by[f.Source], f)
				}
			}
		}
		return by
	})}
}

// Of returns the thread that is the newest repaired copy of a session as it is now, "" if there is none: the session has
// the bytes that were repaired, and the copy still stands.
func (c *Copies) Of(ctx context.Context, real string, size int64) string {
	hash := ""
	for _, f := range c.by()[real] {
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

// Original is the thread that a session is the repaired copy of, "" if it is none.
func (c *Copies) Original(path string) string {
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		return ""
	}
	for source, files := range c.by() {
		for _, f := range files {
			if name := lint.NameOf(source, true); name.Canonical && f.Target == real {
				return name.ThreadID
			}
		}
	}
	return ""
}

// repaired is the rule about an original that stands beside its copy.
var repaired = lint.FindRule("repaired")

// Settle makes a note of the findings of a session that was repaired into a copy: what is wrong with it matters no more.
// It returns the copy's thread, "" if there is none or nothing was damaged.
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
		Rule: repaired, Impact: repaired.Impact, Fix: repaired.Fix,
		Message: fmt.Sprintf("repaired as %s; resume that: %s", id, format.Command(all.Named(res.Summary.Agent).Resume(id)...)),
	}}, kept...)
	return id
}
