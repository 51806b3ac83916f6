package lint

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestCompactionWithoutList: where a compaction's list is null, the client keeps the prompts, as where there is none (0.171.0, measured).
func TestCompactionWithoutList(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(fixtures, "codex", "rules", "empty-compaction", "bad.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`"replacement_history":\[.*\]`)
	if !list.Match(text) {
		t.Fatal("the fixture has no list")
	}
	res, err := Session(t.Context(), bytes.NewReader(list.ReplaceAll(text, []byte(`"replacement_history":null`))), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range res.Findings {
		t.Errorf("line %d: %s", f.Pos.Line, f.Message)
	}
}
