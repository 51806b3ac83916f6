package claude

import (
	"slices"
	"testing"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/normalize"
)

// What an error says of the session: one of the API's moods must not keep a sound session from being resumed.
func TestExplain(t *testing.T) {
	for text, want := range map[string]struct {
		verdict agent.Verdict
		same    string
	}{
		"API Error: 529 {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}": {agent.Resumable, agent.Later},
		"API Error: 429 rate_limit_error":                                    {agent.Resumable, agent.Later},
		"Error: Session ID 9b6a3805 is already in use.":                      {agent.Resumable, agent.Now},
		"messages.3: `tool_use` ids were found without `tool_result` blocks": {agent.Repairable, agent.AfterRepair},
		"messages: text content blocks must be non-empty":                    {agent.Repairable, agent.AfterRepair},
		"No conversation found with session ID: 9b6a3805":                    {agent.NotFound, agent.Never},
		"prompt is too long: 205000 tokens > 200000 maximum":                 {agent.Incompatible, agent.Never},
	} {
		m := (Agent{}).Explain(text)
		if m == nil || m.Verdict != want.verdict || m.Same != want.same {
			t.Errorf("%s: %+v, want %+v", text, m, want)
		}
	}
	for _, m := range meanings {
		if m.Rule != "" && !slices.ContainsFunc(slices.Concat(Rules, normalize.Rules), func(r *finding.Rule) bool { return r.Name == m.Rule }) {
			t.Errorf("%q names the rule %q, which does not exist", m.Words, m.Rule)
		}
	}
}
