package preresume

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/internal/timeline"
)

// TestEndsNameTheAgentsRule: of a session that is too long to be read whole, a beginning that can't be read breaks a rule that
// the session's own agent has.
func TestEndsNameTheAgentsRule(t *testing.T) {
	const (
		codexName  = "rollout-2026-11-18T10-00-00-01a1fa85-0000-7000-8000-000000000000.jsonl"
		claudeName = "01a1fa85-0000-4000-8000-000000000000.jsonl"
	)
	for _, c := range []struct{ path, text, rule string }{
		{codexName, "no record\n", "bad-header"},
		{filepath.Join("projects", "-home-dev", claudeName), "no record\n" + strings.Repeat("nor this\n", 3), "bad-json"},
	} {
		path := filepath.Join(t.TempDir(), c.path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		g, err := timeline.Look(context.Background(), path, timeline.LookOptions{})
		if err != nil {
			t.Fatal(err)
		}
		src, err := source.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		found, _, err := ends(src, g, false)
		src.Close()
		if err != nil || len(found) == 0 || found[0].Rule.Name != c.rule || !strings.HasPrefix(found[0].Message, "at the beginning of the file: ") {
			t.Errorf("%s: %v, %v; want %s first", c.path, found, err, c.rule)
		}
	}
}
