package beside

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hist-cli/hist/internal/agent"
)

const (
	parentID = "019a0000-0000-7000-8000-000000000001"
	childID  = "019a0000-0000-7000-8000-000000000002"
)

func TestDependants(t *testing.T) {
	home := t.TempDir()
	header := `{"timestamp":"2026-10-01T09:00:00.000Z","ordinal":7,"type":"session_meta","payload":{"id":"%s","history_mode":"paginated"%s}}` + "\n"
	base := `,"history_base":{"thread_id":"` + parentID + `","end_ordinal_exclusive":7,"end_byte_offset":4096}`
	parent := filepath.Join(home, "sessions/2026/10/01/rollout-2026-10-01T09-00-00-"+parentID+".jsonl")
	writeText(t, parent, fmt.Sprintf(header, parentID, ""))
	fork := filepath.Join(home, "archived_sessions/rollout-2026-10-01T10-00-00-"+childID+".jsonl")
	writeText(t, fork, fmt.Sprintf(header, childID, base))
	writeText(t, filepath.Join(home, "sessions/2026/10/01/rollout-2026-10-01T11-00-00-019a0000-0000-7000-8000-000000000003.jsonl"), "no header\n")
	got, err := NewHeaders().Dependants(context.Background(), home, parent)
	if err != nil || len(got) != 1 || got[0] != (agent.Dependant{Path: fork, Offset: 4096}) {
		t.Errorf("got %v, %v", got, err)
	}
}

// TestHeadersAreReadOnce: repairs of all sessions of a home read each header once, and one that has changed since again.
func TestHeadersAreReadOnce(t *testing.T) {
	home := t.TempDir()
	fork := filepath.Join(home, "sessions/2026/10/01/rollout-2026-10-01T10-00-00-"+childID+".jsonl")
	text := `{"type":"session_meta","payload":{"id":"` + childID + `","history_base":{"thread_id":"` + parentID + `","end_ordinal_exclusive":7,"end_byte_offset":%d}}}` + "\n"
	when := time.Now()
	became := func(offset int, when time.Time) {
		writeText(t, fork, fmt.Sprintf(text, offset))
		if err := os.Chtimes(fork, when, when); err != nil {
			t.Fatal(err)
		}
	}
	hs := NewHeaders()
	asked := func(want int64) {
		t.Helper()
		got, err := hs.Dependants(t.Context(), home, "rollout-2026-10-01T09-00-00-"+parentID+".jsonl")
		if err != nil || len(got) != 1 || got[0].Offset != want {
			t.Errorf("got %v, %v, want %d", got, err, want)
		}
	}
	became(4096, when)
	asked(4096)
	became(4097, when) // as nothing but a test can: what is said of it shows that it is not read again
	asked(4096)
	became(4098, when.Add(time.Second))
	asked(4098)
}

func writeText(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
