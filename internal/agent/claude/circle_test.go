package claude_test

import (
	"testing"

	"github.com/hist-cli/hist/lint"
)

// A record whose lost parent hangs on it in turn is no circle to go round in for ever.
func TestOwnAncestor(t *testing.T) {
	res, err := lint.File(t.Context(), "testdata/own-ancestor.jsonl", lint.Options{})
	if err != nil || len(res.Findings) == 0 {
		t.Errorf("%+v, %v", res, err)
	}
}
