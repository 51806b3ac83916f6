//go:build unix

package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestShutLast: where a folder or a session may not be opened, nobody says that there is no last session.
func TestShutLast(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may open everything")
	}
	home := t.TempDir()
	path := filepath.Join(home, "sessions", "2026", "11", "20", "rollout-2026-11-20T19-53-37-01a1fa85-897f-7b72-87b7-f6ebde981289.jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, shut := range []string{path, filepath.Dir(path), filepath.Join(home, "sessions")} {
		if err := os.WriteFile(path, []byte(header), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(shut, 0); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"lint", "--last"}, {"pre-resume", "--last", "--all"}} {
			c := child(t, args...)
			c.Env = append(c.Env, "CODEX_HOME="+home)
			if code, out := exitCode(t, c); code != ExitIO || strings.Contains(out, "no session") || !strings.Contains(out, "permission denied") {
				t.Errorf("%v: exit %d: %s", args, code, out)
			}
		}
		if err := os.Chmod(shut, 0o700); err != nil {
			t.Fatal(err)
		}
	}
}
