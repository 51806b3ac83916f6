package home

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The agent whose session it is runs hist: it is in use, whatever a sandbox hides.
func TestInUseByTheAgentItself(t *testing.T) {
	const id, other = "01a1fa85-bfc3-74d1-9684-43a82083e7d1", "01a1fa85-bfc3-74d1-9684-000000000000"
	path := filepath.Join(t.TempDir(), "rollout.jsonl")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		env, thread string
		busy        bool
	}{{id, id, true}, {strings.ToUpper(id), id, true}, {other, id, false}, {"", id, false}, {"", "", false}} {
		t.Setenv(threadVar, tc.env)
		if busy, err := InUse(path, "", tc.thread); err != nil || (busy != nil) != tc.busy {
			t.Errorf("%+v: %v, %v", tc, busy, err)
		}
	}
}
