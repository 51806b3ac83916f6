package claude_test

import (
	"testing"

	"github.com/hist-cli/hist/lint"
)

// TestOwnAncestor: nothing goes round for ever, neither where a lost parent hangs on its own child, nor where a lost output is
// to be hung behind what stands above its call, as in a file whose records stand backwards.
func TestOwnAncestor(t *testing.T) {
	for _, path := range []string{"testdata/own-ancestor.jsonl", "testdata/backwards.jsonl"} {
		res, err := lint.File(t.Context(), path, lint.Options{})
		if err != nil || len(res.Findings) == 0 {
			t.Errorf("%s: %+v, %v", path, res, err)
		}
	}
}
