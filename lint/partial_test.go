package lint

import (
	"bytes"
	"context"
	"errors"
	"io"
	"path/filepath"
	"testing"
	"testing/iotest"
)

// TestUnread: of a healthy session that can't be read to its end, nothing is said to be missing.
func TestUnread(t *testing.T) {
	paths, err := filepath.Glob("../fixtures/*/*/clean/*.jsonl")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	broken := errors.New("the disk is broken")
	for _, path := range paths {
		text := readFixture(t, path)
		for part := range 16 {
			in := io.MultiReader(bytes.NewReader(text[:len(text)*part/16]), iotest.ErrReader(broken))
			res, err := Session(context.Background(), in, Options{Name: nameOf(filepath.Base(path))})
			if err != nil && part == 0 {
				continue // nobody can tell whose it is
			}
			if err != nil || !errors.Is(res.Summary.Partial, broken) {
				t.Fatal(path, part, err)
			}
			for _, f := range res.Findings {
				t.Errorf("%s: %d/16 of it: line %d: %s [%s]", path, part, f.Pos.Line, f.Message, f.Rule.Name)
			}
		}
	}
}
