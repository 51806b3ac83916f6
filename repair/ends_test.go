package repair

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/lint"
)

// TestReadingEnds: what an operation reads of a long session ends when it is told to.
func TestReadingEnds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session.jsonl")
	if err := os.WriteFile(path, []byte(worstTrees["a healthy chat"](40_000)), 0o600); err != nil {
		t.Fatal(err)
	}
	src, err := source.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	w := &job{Job: Job{Source: src, Lint: lint.Options{}}}
	if w.found, err = lint.Source(t.Context(), src, w.Lint); err != nil {
		t.Fatal(err)
	}
	w.agent = all.Named(w.found.Summary.Agent)
	text, err := w.text(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), time.Millisecond)
	defer stop()
	if _, err := w.readSent(ctx, text, ""); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
}
