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
type Agent struct{ codex.Agent }

// About reads the first line, which should be a session_meta.
func (a Agent) About(head []byte) agent.About {
	about := a.Agent.About(head)
	if about.Fault != "" {
		about.Rule = ruleBadHeader
	}
	return about
}

// NewCheckers makes Codex's checkers; run's history must be Codex's.
func (Agent) NewCheckers(run *check.Run) []check.Checker {
	return NewCheckers(run, run.History().(*codex.History))
}

// Rules are all rules that Codex's checkers report, and those about what lies beside its sessions.
func (Agent) Rules() []*finding.Rule {
	return slices.Concat(headerRules, ordinalRules, callRules, turnRules, itemRules, restartRules, StoreRules)
}

// Effect is what a version of Codex, or the newest known if it is "", does with damage that any agent's session can have
// (measured: docs/dev/codex-behaviour.md).
func (Agent) Effect(rule *finding.Rule, version string) (finding.Impact, string) {
	return impactIn(version, rule), texts.Effect(rule)
}

func impactIn(version string, rule *finding.Rule) finding.Impact {
	if rule == normalize.NoFinalNewline && codex.Before(version, 0, 145) {
		return finding.Loses
	}
	return rule.Impact
}
