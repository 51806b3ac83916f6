package cmd

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/testkit/testhome"
)

// TestBesideSessions: what a home tells of a session stands with what was found in it: no path has two entries.
func TestBesideSessions(t *testing.T) {
	dir := t.TempDir()
	if err := testhome.Unpack("../fixtures/codex/rules/context-lost/bad.txtar", dir); err != nil {
		t.Fatal(err)
	}
	t.Setenv("CODEX_HOME", dir)
	for rule, want := range map[string]string{"": "context-lost", "open-turn": ""} {
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
		if len(report.Sessions) != 2 || report.Sessions[0].Path == report.Sessions[1].Path {
			t.Errorf("--rule %q: %s", rule, &out)
			continue
		}
		got := ""
		for _, f := range report.Sessions[0].Findings {
			if f.Rule == "context-lost" {
				got = f.Rule
			}
		}
		if got != want {
			t.Errorf("--rule %q: the home tells %q of the first session, want %q: %s", rule, got, want, &out)
		}
	}
}
