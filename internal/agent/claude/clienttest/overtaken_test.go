package clienttest

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/hist-cli/hist/lint"
	"github.com/hist-cli/hist/repair"
)

// TestOvertakenAlone: where nothing may be moved behind a compaction's mark, no turn is hung behind that from in front of it:
// the client would send neither the turn nor what follows it.
func TestOvertakenAlone(t *testing.T) {
	path := filepath.Join(fixtures, "rules", "lost-branch", "bad-compacted.jsonl")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, choice := range []repair.Choice{{Rules: []string{"lost-branch"}}, {}} {
		var mended bytes.Buffer
		if _, err := repair.Do(t.Context(), repair.Job{Path: path, Lint: lint.Options{Agent: "claude"}, Mode: repair.ToStream, Stream: &mended, Choice: choice}); err != nil {
			t.Fatal(err)
		}
		if alone, same := len(choice.Rules) > 0, bytes.Equal(mended.Bytes(), text); alone != same {
			t.Errorf("%v: the copy is the same: %v", choice, same)
		}
	}
}
