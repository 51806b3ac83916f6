package lint

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/agent/all"
)

// TestParents: a fork is read with as much of the session that it goes on from as it inherits, found in the home by its id; a parent that
// is not there, and a home that is not known, give nothing.
func TestParents(t *testing.T) {
	const parent, fork = "01a21e00-4c11-7d20-9b01-6a1f0c2d3e4f", "01a21e00-5c11-7d20-9b01-6a1f0c2d3e4f"
	home := t.TempDir()
	dir := filepath.Join(home, "sessions", "2026", "11", "24")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	inherited := `{"timestamp":"2026-11-24T08:10:00.100Z","ordinal":0,"type":"session_meta","payload":{"id":"` + parent + `","history_mode":"paginated"}}` + "\n"
	text := inherited + `{"timestamp":"2026-11-24T08:10:01.100Z","ordinal":1,"type":"event_msg","payload":{"type":"agent_message","message":"behind the fork"}}` + "\n"
	if err := os.WriteFile(filepath.Join(dir, "rollout-2026-11-24T08-10-00-"+parent+".jsonl"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	about := all.Named("codex").About([]byte(strings.Replace(inherited, `"history_mode":"paginated"`, `"history_mode":"paginated","history_base":{"thread_id":"`+parent+`","end_ordinal_exclusive":1,"end_byte_offset":`+strconv.Itoa(len(inherited))+`}`, 1))).Info
	find := Parents(context.Background(), all.Named("codex"), home, about)
	if got := find(parent); string(got) != inherited {
		t.Errorf("the fork inherits %q, want %q", got, inherited)
	}
	if got := find(fork); !bytes.Equal(got, nil) {
		t.Errorf("a session that is not there is %q", got)
	}
	if Parents(context.Background(), all.Named("codex"), "", about) != nil {
		t.Error("without a home, there are parents")
	}
}
