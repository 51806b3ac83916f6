package pi

import (
	"testing"

	"github.com/hist-cli/hist/internal/agent"
)

// What OpenClaw and the client say of a session, as reports have it.
func TestExplain(t *testing.T) {
	for text, want := range map[string]agent.Verdict{
		"Message ordering conflict - please try again. If this persists, use /new to start a fresh session.":             agent.Incompatible,
		"Session history looks corrupted (tool call input missing). Use /new to start a fresh session.":                  agent.Repairable,
		"LLM request failed: provider rejected the request schema or tool payload.":                                      agent.Incompatible,
		"⚠️ Something went wrong while processing your request. Please try again, or use /new to start a fresh session.": agent.Incompatible,
		"Error: Session file is not a valid pi session: /srv/demo/a.jsonl":                                               agent.Repairable,
	} {
		if m := explain(text); m == nil || m.Verdict != want {
			t.Errorf("%s: %+v, want %v", text, m, want)
		}
	}
	if m := explain("Something went wrong"); m != nil {
		t.Errorf("what any program says: %+v", m)
	}
	known := map[string]bool{}
	for _, r := range Agent.Rules {
		known[r.Name] = true
	}
	for _, m := range meanings {
		if m.Step == "" || m.Rule != "" && !known[m.Rule] {
			t.Errorf("%q has no next step, or names the rule %q, which does not exist", m.Words, m.Rule)
		}
	}
}
