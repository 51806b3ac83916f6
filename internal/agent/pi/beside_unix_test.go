//go:build unix

package pi

import (
	"path/filepath"
	"syscall"
	"testing"
)

// TestPipeBeside: a pipe in the folder of a session is no session, and nobody waits for one to write into it.
func TestPipeBeside(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe.jsonl")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	if head := headOf(path); head != nil {
		t.Errorf("%q", head)
	}
}
