package repair

import (
	"context"
	"sync"

	"github.com/hist-cli/hist/internal/runs"
	"github.com/hist-cli/hist/internal/source"
)

// sourceHash is the SHA-256 of the session's file.
func (w *job) sourceHash(ctx context.Context) (string, error) {
	if w.Mode == DryRun {
		return runs.HashOf(ctx, w.Source)
	}
	w.hashSource(ctx, source.NewSum(), 0)
	return w.sourceSum()
}

// hashSource begins to hash the source on another goroutine, if the run's record needs the hash and it has not begun. begun is
// the sum of the source's first size bytes.
func (w *job) hashSource(ctx context.Context, begun *source.Sum, size int64) {
	if w.sourceSum != nil || w.Source.Real == "" || w.Mode != NewThread && w.Mode != ToFile {
		return
	}
	if w.Source.Compressed {
		begun, size = source.NewSum(), 0
	}
	type hashed struct {
		sha string
		err error
	}
	done := make(chan hashed, 1)
	go func() {
		sha, err := runs.HashRest(ctx, w.Source, begun, size)
		done <- hashed{sha, err}
	}()
	w.sourceSum = sync.OnceValues(func() (string, error) {
		h := <-done
		return h.sha, h.err
	})
}
