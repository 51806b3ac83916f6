package evidence

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/agent/claude/format"
)

// TestStoredOutputs: an output in a file of its own is found by the call's id, or if it can be no other.
func TestStoredOutputs(t *testing.T) {
	call := func(id string) string {
		return `{"type":"assistant","uuid":"` + id + `u","parentUuid":null,"message":{"content":[{"type":"tool_use","id":"` + id + `"}]}}` + "\n"
	}
	result := func(id, words string) string {
		return `{"type":"user","uuid":"` + id + `r","parentUuid":null,"message":{"content":[{"type":"tool_result","tool_use_id":"` + id + `","content":"` + words + `"}]}}` + "\n"
	}
	for _, c := range []struct {
		name, session, want string
		files               []string
	}{
		{"by its id", call("toolu_1"), "of toolu_1.txt", []string{"toolu_1.txt", "b2.txt"}},
		{"the only one that no record names", call("toolu_1") + call("toolu_2") + result("toolu_2", "saved to /x/tool-results/b1.txt"), "of b2.txt", []string{"b1.txt", "b2.txt"}},
		{"one of two", call("toolu_1"), "", []string{"b1.txt", "b2.txt"}},
		{"two calls want it", call("toolu_1") + call("toolu_2"), "", []string{"b1.txt"}},
		{"named by another", call("toolu_1") + call("toolu_2") + result("toolu_2", "saved to /x/tool-results/b1.txt"), "", []string{"b1.txt"}},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "0fb3d7b2-70c1-4a3e-9d86-2f6f25a1c6d4.jsonl")
		stored := filepath.Join(strings.TrimSuffix(path, format.Extension), "tool-results")
		if err := os.MkdirAll(stored, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(c.session), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, f := range c.files {
			if err := os.WriteFile(filepath.Join(stored, f), []byte("of "+f), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got, source := Open(path, nil, nil).Output("toolu_1"); got != c.want || (source != "") != (c.want != "") {
			t.Errorf("%s: %q from %q, want %q", c.name, got, source, c.want)
		}
	}
}
