package inspect

import (
	"context"
	"encoding/json"
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
	byOriginal func() map[string][]copied // by the original's real path
	originals  func() map[string]string   // the originals' real paths, by the copies'
}

// copied is a copy, and the run that made it.
type copied struct {
	runs.File
	run string
}

// Copy is a repaired copy of a session.
type Copy struct {
	Thread string // its id; "" if there is no copy
	InPart bool   // when it was made, something was left in it that a repair would have mended: it was told not to
}

// NewCopies returns Copies that read the records of runs when they are first needed.
func NewCopies() *Copies {
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

// readRuns lists the copies that were made and are not undone, by their originals' real paths, the newest first.
func readRuns() map[string][]copied {
	by := map[string][]copied{}
	list, _ := runs.List() // of a record that can't be read no copies are known
	for _, m := range list {
		for _, f := range m.Files {
			if f.Mode == runs.NewThread && f.Published && !f.Undone {
				by[f.Source] = append(by[f.Source], copied{f, m.Run})
			}
		}
	}
	return by
}

// Of returns the newest repaired copy of a session, which is the file at the path real, with all links followed, of so many
// bytes. A copy counts if it still exists and the session still has the bytes that were repaired.
func (c *Copies) Of(ctx context.Context, real string, size int64) Copy {
	hash := ""
	for _, f := range c.byOriginal()[real] {
		name := lint.NameOf(f.Target, true)
		if _, err := os.Stat(f.Target); !name.Canonical || err != nil || f.SizeBefore != size || f.Plan != "" {
			continue // an operation's copy has a plan, and mends nothing
		}
		if hash == "" {
			var err error
			if hash, _, err = runs.Hash(ctx, real); err != nil {
				return Copy{}
			}
		}
		if hash == f.SHA256Before {
			return Copy{name.ThreadID, f.inPart()}
		}
	}
	return Copy{}
}

// inPart says whether a repair would have mended more if it had been allowed to. Without a report, nothing is known to be left.
func (f *copied) inPart() bool {
	text, err := runs.Report(f.run, filepath.Base(f.Source))
	if err != nil {
		return false
	}
	var report struct {
		Left []struct{ Impact, Fix, Option string }
	}
	if err := json.Unmarshal(text, &report); err != nil {
		return false
	}
	for _, l := range report.Left {
		if l.Impact != lint.Notes.String() && l.Fix != lint.NoFix.String() && l.Option == "" {
			return true
		}
	}
	return false
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
// matters; its other notes stay. Beside a copy that was repaired in part, all findings stay. It returns the copy's thread id, ""
// if there is no copy or nothing was damaged.
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
	copy := c.Of(ctx, src.Real, src.Info.Size())
	if copy.Thread == "" {
		return ""
	}
	how := "repaired as"
	if copy.InPart {
		how, kept = "repaired in part as", res.Findings
	}
	res.Findings = append([]lint.Finding{{
		Rule: check.Repaired, Impact: check.Repaired.Impact, Fix: check.Repaired.Fix,
		Message: fmt.Sprintf("%s %s; resume that: %s", how, copy.Thread, format.Command(all.Named(res.Summary.Agent).Resume(copy.Thread)...)),
	}}, kept...)
	return copy.Thread
}
