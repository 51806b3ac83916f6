//go:build unix

package all

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestPipeAsLock: nobody waits for a pipe in the place of a session's lock.
func TestPipeAsLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	if err := os.WriteFile(path, []byte(`{"type":"session","version":3,"id":"s","timestamp":"2026-10-02T09:00:00.000Z","cwd":"/nowhere"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(path+".lock", 0o600); err != nil {
		t.Skip(err)
	}
	if by, err := InUse(path, "", ""); by != nil || err != nil {
		t.Errorf("in use by %v, %v", by, err)
	}
}
