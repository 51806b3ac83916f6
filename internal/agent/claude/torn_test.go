package claude_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTornLikeTheNext: where the model's server writes its members in the order of the alphabet, two calls of one answer are
// alike from their type on. The first, cut behind that, is no failed write of the second, and comes back.
func TestTornLikeTheNext(t *testing.T) {
	text, err := os.ReadFile("testdata/torn-like-the-next.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	found := lintAt(t, filepath.Join(t.TempDir(), "projects/-home-dev-demo/2ac8f520-5b5b-41eb-a2c4-3b7013389650.jsonl"), string(text))
	if i := find(found, "bad-json"); i < 0 || !strings.Contains(found[i].Message, "the part that was written can be kept") {
		t.Errorf("%+v", found)
	}
}
