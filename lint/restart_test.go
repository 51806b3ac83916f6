package lint

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/testkit/testfile"
)

// TestRestartRules changes the rules' own examples so that the note is no longer true, or true again.
func TestRestartRules(t *testing.T) {
	const restricted, escalated = `{"type":"workspace-write","network_access":false}`, `"arguments":"{\"sandbox_permissions\":\"require_escalated\",`
	for name, tc := range map[string]struct {
		rule     *Rule
		old, new string
		opts     Options
		want     bool
	}{
		"restart":                   {rule: FindRule("restart-gap"), want: true},
		"end was lost with a line":  {rule: FindRule("restart-gap"), old: `{"timestamp":"2026-11-20T10:01:05.000Z","type":"event_msg","payload":{"type":"task_started"`, new: "garbage\n" + `{"timestamp":"2026-11-20T10:01:05.000Z","type":"event_msg","payload":{"type":"task_started"`},
		"wake":                      {rule: FindRule("stale-wake"), want: true},
		"new words":                 {rule: FindRule("stale-wake"), old: "Message 8", new: "Message 9", want: true},
		"no wake":                   {rule: FindRule("stale-wake"), old: "[WAKE] Message 7", new: "Message 7"},
		"another prefix":            {rule: FindRule("stale-wake"), opts: Options{WakePrefix: "(wake)"}},
		"own prefix":                {rule: FindRule("stale-wake"), old: "[WAKE]", new: "(wake)", opts: Options{WakePrefix: "(wake)"}, want: true},
		"save":                      {rule: FindRule("missing-save"), want: true},
		"being written":             {rule: FindRule("missing-save"), opts: Options{Live: true}},
		"another tool":              {rule: FindRule("missing-save"), opts: Options{SaveTool: "remember"}},
		"own tool":                  {rule: FindRule("missing-save"), old: "mcp__notes__add_memory", new: "remember", opts: Options{SaveTool: "remember"}, want: true},
		"one turn saved only":       {rule: FindRule("missing-save"), old: `"mcp__notes__add_memory","arguments":"{\"text\": \"part 1`, new: `"update_plan","arguments":"{\"text\": \"part 1`},
		"sandbox":                   {rule: FindRule("sandbox-only-failure"), want: true},
		"open network":              {rule: FindRule("sandbox-only-failure"), old: `"network_access":false`, new: `"network_access":true`},
		"no sandbox":                {rule: FindRule("sandbox-only-failure"), old: restricted, new: `{"type":"danger-full-access"}`},
		"settings unknown":          {rule: FindRule("sandbox-only-failure"), old: restricted, new: `{}`},
		"outside of the sandbox":    {rule: FindRule("sandbox-only-failure"), old: `"arguments":"{\"cmd\"`, new: escalated + `\"cmd\"`},
		"another failure":           {rule: FindRule("sandbox-only-failure"), old: "Failed to connect to 127.0.0.1 port 8000 after 0 ms: Couldn't connect to server", new: "no such file"},
		"command worked":            {rule: FindRule("sandbox-only-failure"), old: "exited with code 7", new: "exited with code 0"},
		"no MCP tool":               {rule: FindRule("sandbox-only-failure"), old: "mcp__store__heartbeat", new: "update_plan"},
		"MCP tool as newer clients": {rule: FindRule("sandbox-only-failure"), old: `"name":"mcp__store__heartbeat"`, new: `"name":"heartbeat","namespace":"mcp__store"`, want: true},
		"MCP tool failed, too":      {rule: FindRule("sandbox-only-failure"), old: `[{\"type\":\"text\",\"text\":\"alive\"}]`, new: "tool call error: it is down"},
		"resolver":                  {rule: FindRule("sandbox-only-failure"), old: "Couldn't connect to server", new: "Temporary failure in name resolution", want: true},
	} {
		t.Run(name, func(t *testing.T) {
			raw, err := os.ReadFile(filepath.Join(fixtures, "codex", "rules", tc.rule.Name, "bad.jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			text := string(raw)
			if tc.old != "" {
				if !strings.Contains(text, tc.old) {
					t.Fatalf("the example does not hold %s", tc.old)
				}
				text = strings.ReplaceAll(text, tc.old, tc.new)
			}
			result, err := Session(context.Background(), strings.NewReader(text), tc.opts)
			if err != nil {
				t.Fatal(err)
			}
			got := false
			for _, f := range result.Findings {
				got = got || f.Rule == tc.rule
				if f.Rule.Family == "restart" && f.Impact != Notes {
					t.Errorf("%s is more than a note", f.Rule.Name)
				}
			}
			if got != tc.want {
				t.Errorf("found: %v, want %v:\n%s", got, tc.want, testfile.Findings(result.Findings))
			}
		})
	}
}
