package claude_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/hist-cli/hist/internal/agent/claude"
	"github.com/hist-cli/hist/internal/testkit/agenttest"
)

// TestSuite is what every agent must pass.
func TestSuite(t *testing.T) {
	healthy := map[string][]byte{}
	for _, name := range []string{"1.0.128/clean", "2.1.2/clean", "2.1.330/clean", "2.1.330/compact", "2.1.330/fork"} {
		paths, err := filepath.Glob(filepath.Join("../../../fixtures/claude", filepath.FromSlash(name), "*.jsonl"))
		if err != nil || len(paths) == 0 {
			t.Fatalf("no recording %s: %v", name, err)
		}
		if healthy[name], err = os.ReadFile(paths[0]); err != nil {
			t.Fatal(err)
		}
	}
	agenttest.Suite(t, claude.Agent, healthy)
}
