package check

import "github.com/hist-cli/hist/internal/finding"

// The rules that any agent may have: about calls and turns, and about the session as one of many.
var (
	CallWithoutOutput = texts.Rule(finding.Rule{Name: "call-without-output", Family: "calls", Impact: finding.Loses, Fix: finding.Recovered})
	OutputWithoutCall = texts.Rule(finding.Rule{Name: "output-without-call", Family: "calls", Impact: finding.Loses, Fix: finding.Recovered})
	DuplicateOutput   = texts.Rule(finding.Rule{Name: "duplicate-output", Family: "calls", Impact: finding.Rejects, Fix: finding.SetAside})
	DuplicateCall     = texts.Rule(finding.Rule{Name: "duplicate-call", Family: "calls", Impact: finding.Rejects, Fix: finding.SetAside})
	OpenTurn          = texts.Rule(finding.Rule{Name: "open-turn", Family: "turns", Impact: finding.Shows, Fix: finding.Exact, Always: true})
	UnansweredPrompt  = texts.Rule(finding.Rule{Name: "unanswered-prompt", Family: "turns", Impact: finding.Notes, Fix: finding.NoFix})
	Refused           = texts.Rule(finding.Rule{Name: "refused", Family: "items", Impact: finding.Rejects, Fix: finding.Exact})
	ContextLost       = texts.Rule(finding.Rule{Name: "context-lost", Family: "store", Impact: finding.Notes, Fix: finding.NoFix, Home: true})
	Repaired          = texts.Rule(finding.Rule{Name: "repaired", Family: "store", Impact: finding.Notes, Fix: finding.NoFix, Home: true})
)
