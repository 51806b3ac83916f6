package rules

import (
	"slices"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/finding"
)

// Agent is Codex with its rules.
type Agent struct{ codex.Agent }

// NewCheckers is NewCheckers, for a Run whose history is Codex's.
func (Agent) NewCheckers(run *check.Run) []check.Checker {
	return NewCheckers(run, run.History().(*codex.History))
}

// Rules are all rules that Codex's checkers report, and those about what lies beside its sessions.
func (Agent) Rules() []*finding.Rule {
	return slices.Concat(headerRules, ordinalRules, callRules, turnRules, itemRules, restartRules, StoreRules)
}
