package repair

import (
	"context"
	"fmt"
	"time"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/inspect"
	"github.com/hist-cli/hist/internal/runs"
	"github.com/hist-cli/hist/internal/timeline"
)

// enlist adds the copy to the client's list of threads, so that the client offers it, and resumes it as the last one. A copy
// that is not listed still works: the client resumes it by its id, and then lists it.
func (w *job) enlist(ctx context.Context) {
	if w.Mode != NewThread || w.Home == "" {
		return
	}
	list := inspect.OpenHome(ctx, w.Home)
	threads, err := list.Threads(ctx)
	if err == nil && !list.LastIsListed(threads) {
		return // the client looks at the files themselves
	}
	listed := false
	if err == nil {
		copied := agent.Copied{ID: w.thread, Path: w.target, Made: time.Now()}
		if g, err := timeline.Look(ctx, w.target, timeline.LookOptions{Content: true}); err == nil {
			copied.Prompt, copied.Mode = g.First, g.Header.Mode
		}
		listed, err = list.Enlist(ctx, w.lockedThread(), copied)
	}
	switch {
	case err != nil:
		w.notes = append(w.notes, fmt.Sprintf("the client does not list the copy until it is resumed by its id: %v", err))
	case !listed:
		w.notes = append(w.notes, "the client does not list the copy until it is resumed by its id, as it does not list the original")
	}
}

// delist removes a copy that is gone from the client's list of threads. An error is only noted: a row whose file is gone does
// no harm.
func delist(ctx context.Context, homeDir string, f *runs.File, thread string) (note string) {
	list := openHome(ctx, homeDir)
	if list == nil {
		return ""
	}
	if err := list.Delist(ctx, thread, f.Target); err != nil {
		return fmt.Sprintf("the client's list of threads may still name it: %v", err)
	}
	return ""
}
