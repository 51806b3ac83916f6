package cmd

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/hist-cli/hist/internal/runs"
	"github.com/hist-cli/hist/lint"
)

// copies knows the repaired copies that stand beside their originals, from the records of runs.
type copies struct {
	by func() map[string][]runs.File // by the original's real path
}

func newCopies() *copies {
	return &copies{sync.OnceValue(func() map[string][]runs.File {
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

// of returns the thread that is the newest repaired copy of a session as it is now, "" if there is none: the session has
// the bytes that were repaired, and the copy still stands.
func (c *copies) of(ctx context.Context, real string, size int64) string {
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

// original is the thread that a session is the repaired copy of, "" if it is none.
func (c *copies) original(path string) string {
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

// settle makes a note of the findings of a session that was repaired into a copy: what is wrong with it matters no more.
func (c *copies) settle(ctx context.Context, r *linted) {
	if r.src == nil || r.src.Real == "" || r.result == nil {
		return
	}
	var kept []lint.Finding
	damaged := false
	for _, f := range r.result.Findings {
		if f.Impact == lint.Notes {
			kept = append(kept, f)
		}
		damaged = damaged || f.Impact != lint.Notes
	}
	if !damaged {
		return
	}
	id := c.of(ctx, r.src.Real, r.src.Info.Size())
	if id == "" {
		return
	}
	rule := lint.FindRule("repaired")
	r.repaired = id
	r.result.Findings = append([]lint.Finding{{
		Rule: rule, Impact: rule.Impact, Fix: rule.Fix, Message: fmt.Sprintf("repaired as %s; resume that: codex resume %s", id, id),
	}}, kept...)
}
