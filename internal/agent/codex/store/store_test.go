package store

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

const (
	parentID = "019a0000-0000-7000-8000-000000000001"
	childID  = "019a0000-0000-7000-8000-000000000002"
)

func TestDirFollowsConfigAndEnvironment(t *testing.T) {
	t.Setenv("CODEX_SQLITE_HOME", "")
	home := t.TempDir()
	if got := Dir(home); got != home {
		t.Errorf("default: %s", got)
	}
	write(t, filepath.Join(home, "config.toml"), "sqlite_home = \"db\"\n[features]\nplugins = false\n")
	if got, want := Dir(home), filepath.Join(home, "db"); got != want {
		t.Errorf("config: %s, want %s", got, want)
	}
	t.Setenv("CODEX_SQLITE_HOME", "/elsewhere")
	if got := Dir(home); got != "/elsewhere" {
		t.Errorf("environment: %s", got)
	}
}

func TestDependants(t *testing.T) {
	home := t.TempDir()
	header := `{"timestamp":"2026-10-01T09:00:00.000Z","ordinal":7,"type":"session_meta","payload":{"id":"%s","history_mode":"paginated"%s}}` + "\n"
	base := `,"history_base":{"thread_id":"` + parentID + `","end_ordinal_exclusive":7,"end_byte_offset":4096}`
	write(t, filepath.Join(home, "sessions/2026/10/01/rollout-2026-10-01T09-00-00-"+parentID+".jsonl"), fmt.Sprintf(header, parentID, ""))
	fork := filepath.Join(home, "archived_sessions/rollout-2026-10-01T10-00-00-"+childID+".jsonl")
	write(t, fork, fmt.Sprintf(header, childID, base))
	write(t, filepath.Join(home, "sessions/2026/10/01/rollout-2026-10-01T11-00-00-019a0000-0000-7000-8000-000000000003.jsonl"), "no header\n")
	got, err := Dependants(context.Background(), home, parentID)
	if err != nil || len(got) != 1 || got[0] != (Dependant{fork, 4096}) {
		t.Errorf("got %v, %v", got, err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
