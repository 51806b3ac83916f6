package claude

import (
	"slices"
	"testing"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/normalize"
)

// What the client's own errors say of the session.
func TestExplain(t *testing.T) {
	for text, want := range map[string]struct {
		verdict agent.Verdict
		same    string
	}{
		"Error: Session ID 9b6a3805 is already in use.":                                   {agent.Resumable, agent.Now},
		"Session 9b6a is currently running as a background agent (bg). Use claude agents": {agent.InUse, agent.Later},
		"Failed to resume session: EDQUOT: unknown error, write":                          {agent.Resumable, agent.Later},
		"No conversation found with session ID: 9b6a3805":                                 {agent.NotFound, agent.Never},
	} {
		m := Agent.Explain(text)
		if m == nil || m.Verdict != want.verdict || m.Same != want.same {
			t.Errorf("%s: %+v, want %+v", text, m, want)
		}
	}
	for _, m := range meanings {
		if m.Step == "" {
			t.Errorf("%q has no next step", m.Words)
		}
		if m.Rule != "" && !slices.ContainsFunc(slices.Concat(faults.Rules, normalize.Rules), func(r *finding.Rule) bool { return r.Name == m.Rule }) {
			t.Errorf("%q names the rule %q, which does not exist", m.Words, m.Rule)
		}
	}
}

// TestRulesFor: what the API refuses leads to rules that there are.
func TestRulesFor(t *testing.T) {
	for mend, name := range rulesFor {
		if !slices.ContainsFunc(slices.Concat(faults.Rules, normalize.Rules), func(r *finding.Rule) bool { return r.Name == name }) {
			t.Errorf("%s leads to the rule %q, which does not exist", mend, name)
		}
	}
}
