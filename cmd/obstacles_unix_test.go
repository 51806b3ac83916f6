//go:build unix

package cmd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/lint"
)

func TestNearlyFull(t *testing.T) {
	if o := nearlyFull("/srv/home", leastFree); o.says != "" {
		t.Errorf("there is room: %s", o)
	}
	if o := nearlyFull("/srv/home", 3<<20); !strings.Contains(o.says, "/srv/home: only 3.0 MiB are free") {
		t.Errorf("says %q", o)
	}
}

func TestOlder(t *testing.T) {
	for _, x := range []struct {
		a, b string
		want bool
	}{
		{"0.114.0", "0.171.0", true},
		{"0.171.0", "0.114.0", false},
		{"0.99.0", "0.145.0", true},
		{"2.1.9", "2.1.330", true},
		{"1.0.0", "1.0.0", false},
		{"1.0.0", "", false},
		{"", "1.0.0", false},
		{"1.0.0", "dev", false},
	} {
		if got := older(x.a, x.b); got != x.want {
			t.Errorf("older(%q, %q) is %v", x.a, x.b, got)
		}
	}
}

// A client that can't read a session at all is named, and so is one that is merely older; one that is not here is not.
func TestTooNew(t *testing.T) {
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "codex"), []byte("#!/bin/sh\necho codex-cli 0.114.0\n"), 0o755); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	w := written{}
	w.add(lint.Summary{Agent: "codex", Header: session.Info{Version: "0.171.0"}}, "a.jsonl.zst")
	w.add(lint.Summary{Agent: "codex", Header: session.Info{Version: "0.100.0"}}, "b.jsonl")
	w.add(lint.Summary{Agent: "claude", Header: session.Info{Version: "2.1.330"}}, "c.jsonl")
	list := w.tooNew(t.Context())
	if len(list) != 2 || !strings.Contains(list[0].says, "newer ones, up to 0.171.0, wrote 1 session") || !strings.Contains(list[1].says, "can't read 1 session") {
		t.Errorf("says %v", list)
	}
}
