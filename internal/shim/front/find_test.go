package front

import (
	"os"
	"testing"
)

// TestNoPath: without PATH, a program in the working directory is not the client.
func TestNoPath(t *testing.T) {
	t.Chdir(t.TempDir())
	p := &Program{Name: "codex"}
	if err := os.WriteFile(p.File(), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, set := range []bool{true, false} {
		if t.Setenv("PATH", ""); !set {
			os.Unsetenv("PATH")
		}
		if client, found := p.Next(nil); found {
			t.Errorf("PATH set: %v: %q is run", set, client)
		}
	}
}
