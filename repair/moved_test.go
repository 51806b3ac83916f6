package repair

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/lint"
)

// TestMovedComesFirst: no byte of a copy differs from its session before the place where it is said to begin to. What
// forks and a client's view rely on hangs on that, for changed numbers as for changed words.
func TestMovedComesFirst(t *testing.T) {
	paths, err := filepath.Glob("../fixtures/*/rules/*/bad*.jsonl")
	if err != nil || len(paths) < 40 {
		t.Fatalf("%d fixtures: %v", len(paths), err)
	}
	moved := 0
	for _, path := range paths {
		for _, choice := range []Choice{{}, {Tidy: true}} {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			src, err := source.Stdin(bytes.NewReader(text), "")
			if err != nil {
				t.Fatal(err)
			}
			w := &job{Job: Job{Source: src, Choice: choice, Mode: ToStream, Lint: lint.Options{Mend: choice.Allows}}}
			if err := w.look(t.Context()); errors.Is(err, lint.ErrUnclaimed) {
				continue
			} else if err != nil {
				t.Fatal(err)
			}
			if w.plan.Empty() {
				continue
			}
			var out bytes.Buffer
			if err := w.fill(t.Context(), &out, nil); err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			same := 0
			for same < min(len(text), out.Len()) && text[same] == out.Bytes()[same] {
				same++
			}
			if from := w.made.from; from > int64(same) {
				t.Errorf("%s (tidy %v): differs from byte %d on, not from %d", path, choice.Tidy, same, from)
			}
			moved++
			src.Close()
		}
	}
	if moved < 80 {
		t.Errorf("only %d repairs", moved)
	}
}
