package agenttest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hist-cli/hist/internal/agent/all"
)

// TestCodex: Codex passes what every agent must.
func TestCodex(t *testing.T) {
	sessions := map[string][]byte{}
	for _, name := range []string{"parallel-calls", "interrupted"} {
		text, err := os.ReadFile(filepath.Join("../../../fixtures/codex/healthy", name, "session.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		sessions[name] = text
	}
	Suite(t, all.Named("codex"), sessions)
}
