// Package rules is the rules about a session of Codex, with the checkers that report them; and what may be changed in a sound one: which records
// a client needs, where a session can end, and in what shape the client itself would write it. All of that was measured with real clients.
//
// In: logical records. Out: findings with the edits that mend them, and the changes of an operation. Never here: what a line means, which
// package codex knows, and what lies beside a session, at which package beside looks.
package rules

import (
	"slices"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/normalize"
)

// Agent is Codex with its rules.
var Agent = func() *agent.Agent {
	a := codex.Agent
	a.Ended = LostRecords
	a.About, a.NewCheckers, a.Rules, a.Effect = about, newCheckers, rules(), effect
	return &a
}()

// about reads the first line, which should be a session_meta.
func about(head []byte) agent.About {
	about := codex.Agent.About(head)
	if about.Fault != "" {
		about.Rule = ruleBadHeader
	}
	return about
}

// newCheckers makes Codex's checkers; run's history must be Codex's.
func newCheckers(run *check.Run) []check.Checker {
	return slices.Concat(Stages(run, run.History().(*codex.History))...)
}

// rules are all rules that Codex's checkers report, and those about what lies beside its sessions.
func rules() []*finding.Rule {
	return slices.Concat(headerRules, ordinalRules, callRules, turnRules, itemRules, restartRules, StoreRules)
}

// effect is what a version of Codex, or the newest known if it is "", does with damage that any agent's session can have
// (measured: docs/dev/codex-behaviour.md).
func effect(rule *finding.Rule, version string) (finding.Impact, string) {
	return impactIn(version, rule), texts.Effect(rule)
}

func impactIn(version string, rule *finding.Rule) finding.Impact {
	if rule == normalize.NoFinalNewline && codex.Before(version, 0, 145) {
		return finding.Loses
	}
	return rule.Impact
}
