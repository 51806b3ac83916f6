package cmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
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

// TestManyUnreachable: a path that leads to nothing takes little memory until it is told of, because a list may hold a million of them.
func TestManyUnreachable(t *testing.T) {
	const most = 128 // bytes for each
	operands := make([]string, 50_000)
	for i := range operands {
		operands[i] = fmt.Sprintf("/nowhere/sessions/2026/11/18/rollout-2026-11-18T09-30-00-%08d.jsonl", i)
	}
	before := heap()
	list, err := targets(t.Context(), operands, "")
	if err != nil || len(list) != len(operands) {
		t.Fatalf("%d targets, %v", len(list), err)
	}
	if got := (heap() - before) / int64(len(list)); got > most {
		t.Errorf("%d bytes for each path, at most %d are expected", got, most)
	}
	if first := list[0].err.Error(); !strings.HasPrefix(first, operands[0]+": ") || !errors.Is(list[0].err, fs.ErrNotExist) {
		t.Errorf("told as %s", first)
	}
	runtime.KeepAlive(operands)
}

// heap returns how many bytes are in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
