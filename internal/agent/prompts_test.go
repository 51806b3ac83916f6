package agent

import (
	"os"
	"path/filepath"
	"testing"
)

// A home's list of typed prompts is read once for all its sessions, and again once it has changed.
func TestPromptLists(t *testing.T) {
	var lists PromptLists
	reads := 0
	read := func(list *os.File, size int64) map[string][]Prompt {
		reads++
		return map[string][]Prompt{"one": make([]Prompt, size)}
	}
	path := filepath.Join(t.TempDir(), "history.jsonl")
	if got := lists.Of(path, read); got != nil || reads != 0 {
		t.Errorf("of no list: %v, read %d times", got, reads)
	}
	for _, text := range []string{"a", "bb"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if got := lists.Of(path, read); len(got["one"]) != len(text) || reads != len(text) {
				t.Errorf("%q: %v, read %d times", text, got, reads)
			}
		}
	}
}
