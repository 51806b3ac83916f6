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
		"Error: Session ID 9b6a3805 is already in use.":                                                               {agent.Resumable, agent.Now},
		"Session 9b6a is currently running as a background agent (bg). Use claude agents":                             {agent.InUse, agent.Later},
		"Failed to resume session: EDQUOT: unknown error, write":                                                      {agent.Resumable, agent.Later},
		"No conversation found with session ID: 9b6a3805":                                                             {agent.NotFound, agent.Never},
		"Session not found on disk":                                                                                   {agent.NotFound, agent.Never},
		"CLI session transcript not found: 9b6a3805":                                                                  {agent.NotFound, agent.Never},
		"This session's conversation history is no longer on disk":                                                    {agent.NotFound, agent.Never},
		"g9H is not a function. (In 'g9H(K)', 'g9H' is undefined)":                                                    {agent.Incompatible, agent.AfterUpgrade},
		"ENOENT: no such file or directory, open '/srv/.claude/projects/-srv/9b6a3805.jsonl'":                         {agent.NotFound, agent.Never},
		"Error: --resume requires a valid session ID or session title when used with --print":                         {agent.NotFound, agent.Never},
		"Agent \"a400d6f\" could not be resumed: No transcript found for agent ID: a400d6f":                           {agent.Incompatible, agent.Never},
		"No message found with message.uuid of: 9b6a3805":                                                             {agent.Incompatible, agent.Never},
		"undefined is not an object (evaluating 'q.thinking.trim')":                                                   {agent.Repairable, agent.AfterRepair},
		"Error during compaction: Cannot destructure property 'cumulativeDroppedTokens' from null or undefined value": {agent.Repairable, agent.Never},
		"Error parsing line in /srv/9b6a3805.jsonl: SyntaxError: Expected ',' or '}' after property value in JSON":    {agent.Repairable, agent.AfterRepair},
		"No conversations found to resume. Press Ctrl+C to exit and start a new conversation.":                        {agent.NotFound, agent.Never},
		"Transcript saving is off — inherited CLAUDE_CODE_CHILD_SESSION marker":                                       {agent.Incompatible, agent.Never},
		"Session 9b6a3805 not found in project directory for /srv/demo":                                               {agent.NotFound, agent.Never},
		"Failed to resume: undefined is not an object (evaluating 'e.includes')":                                      {agent.Incompatible, agent.AfterUpgrade},
		"ERROR  Cannot read properties of undefined (reading 'trim')":                                                 {agent.Incompatible, agent.AfterUpgrade},
		"Working directory no longer exists: /srv/demo. The folder may have been moved, deleted, or unmounted.":       {agent.Incompatible, agent.Never},
		"Bad control character in string literal in JSON at position 111 (line 1 column 112)":                         {agent.Incompatible, agent.Never},
		"JSON Parse error: Unrecognized token '<'":                                                                    {agent.Incompatible, agent.Never},
		"ConfigParseError: JSON Parse error: Unexpected EOF":                                                          {agent.Incompatible, agent.Never},
		"Session model x could not be restored (not a model this version of Claude Code recognizes) — using y":        {agent.Resumable, agent.Now},
		"Autocompact is thrashing: the context refilled to the limit within 3 turns":                                  {agent.Resumable, agent.Now},
		"RangeError: Maximum call stack size exceeded":                                                                {agent.Incompatible, agent.AfterUpgrade},
		"JSON Parse error: Expected ':' before value in object property definition":                                   {agent.Incompatible, agent.Never},
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
