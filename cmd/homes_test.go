package cmd

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/testhome"
)

// TestBesideSessions: what a home tells of a session has an entry of its own behind all sessions, and none if all of it
// is left out.
func TestBesideSessions(t *testing.T) {
	dir := t.TempDir()
	if err := testhome.Unpack("../fixtures/codex/rules/context-lost/bad.txtar", dir); err != nil {
		t.Fatal(err)
	}
	t.Setenv("CODEX_HOME", dir)
	for rule, want := range map[string]int{"": 3, "open-turn": 2} {
		args := []string{"hist", "lint", "--no-config", "--format", "json"}
		if rule != "" {
			args = append(args, "--rule", rule)
		}
		var out, told bytes.Buffer
		if code := Main(args, strings.NewReader(""), &out, &told); code > ExitFindings {
			t.Fatalf("exit %d: %s", code, &told)
		}
		var report struct {
			Sessions []struct {
				Path     string
				Findings []struct{ Rule string }
			}
		}
		if err := json.Unmarshal(out.Bytes(), &report); err != nil {
			t.Fatal(err)
		}
		if len(report.Sessions) != want {
			t.Errorf("--rule %q: %d entries, want %d: %s", rule, len(report.Sessions), want, &out)
			continue
		}
		last := report.Sessions[want-1]
		if rule == "" && (len(last.Findings) == 0 || last.Findings[0].Rule != "context-lost") {
			t.Errorf("the last entry is not what the home tells: %+v", last)
		}
	}
}
