package all

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestLockBeside: who uses a session of pi's form is said where OpenClaw's lock lies beside it and its process runs, in whatever folder: other
// agents have folders of the same names.
func TestLockBeside(t *testing.T) {
	const header = `{"type":"session","version":3,"id":"s","timestamp":"2026-10-02T09:00:00.000Z","cwd":"/nowhere"}` + "\n"
	for _, name := range []string{"agents/main/sessions/3f1c2a5e-7b1d-4c55-9be0-6a1d6b0c7f10.jsonl", "sessions/--nowhere--/2026-10-02T09-00-00-000Z_pond.jsonl", "s.jsonl"} {
		dir := t.TempDir()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		for _, home := range []string{"", dir, filepath.Join(dir, "agents/main")} {
			for pid, busy := range map[int]bool{0: false, os.Getpid(): true, 1<<31 - 2: false} {
				for at, words := range map[string]string{path: header, path + ".lock": fmt.Sprintf(`{"pid":%d}`, pid)} {
					if err := os.WriteFile(at, []byte(words), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				if by, err := InUse(path, home, "s"); err != nil || (by != nil) != busy {
					t.Errorf("%s of %q, process %d: in use by %v, %v", name, home, pid, by, err)
				}
			}
		}
	}
}
