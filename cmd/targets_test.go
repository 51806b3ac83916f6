package cmd

import (
	"os"
	"path/filepath"
	"testing"
)

// TestHomeOf: a session belongs to its home under whatever name it is reached.
func TestHomeOf(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	agent, linked := filepath.Join(dir, "agent"), filepath.Join(dir, "linked")
	for _, d := range []string{filepath.Join(agent, "sessions", "2026"), linked, filepath.Join(dir, "data", "2026"), filepath.Join(dir, "elsewhere")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{"agent/sessions/2026/s.jsonl", "data/2026/s.jsonl", "elsewhere/s.jsonl"} {
		if err := os.WriteFile(filepath.Join(dir, f), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{
		"file.jsonl": "agent/sessions/2026/s.jsonl", "dir": "agent/sessions", "linked/sessions": "data",
	} {
		if err := os.Symlink(filepath.Join(dir, to), filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
	}
	t.Setenv("CODEX_HOME", linked)
	for path, want := range map[string]string{
		"agent/sessions/2026/s.jsonl":  agent,
		"file.jsonl":                   agent,
		"dir/2026/s.jsonl":             agent,
		"linked/sessions/2026/s.jsonl": linked,
		"data/2026/s.jsonl":            linked,
		"elsewhere/s.jsonl":            "",
	} {
		if got := homeOf(filepath.Join(dir, path)); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}
