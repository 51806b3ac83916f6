package claude_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestGluedMessageAlone: a prompt whose message is its content alone, on a line with another record, has no content where one is looked
// for, and is mended like any other.
func TestGluedMessageAlone(t *testing.T) {
	text, err := os.ReadFile("../../../fixtures/claude/rules/bad-message/bad-only-content.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	glued := bytes.Replace(text, []byte("}\n{"), []byte("}{"), 1)
	found := lintAt(t, filepath.Join(t.TempDir(), "projects/-home-dev-demo/0fb3d7b2-70c1-4a3e-9d86-2f6f25a1c6d4.jsonl"), string(glued))
	for _, rule := range []string{"glued-records", "bad-message"} {
		if find(found, rule) < 0 {
			t.Errorf("no %s in %+v", rule, found)
		}
	}
}
