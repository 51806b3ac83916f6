package pi

import (
	"embed"

	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/finding"
)

//go:embed texts/*.md effects/*.md
var textFiles embed.FS

// texts say what this package's rules mean, and what the agent does with damage that any agent's session may have.
var texts = finding.Texts{Files: textFiles}

var (
	ruleLostHeader   = texts.Rule(finding.Rule{Name: "lost-header", Family: "header", Impact: finding.Blocks, Fix: finding.StandIn, Always: true})
	ruleLateHeader   = texts.Rule(finding.Rule{Name: "late-header", Family: "header", Impact: finding.Blocks, Fix: finding.Exact, Always: true})
	ruleWrongHeader  = texts.Rule(finding.Rule{Name: "wrong-header", Family: "header", Impact: finding.Blocks, Fix: finding.Exact, Always: true})
	ruleLostVersion  = texts.Rule(finding.Rule{Name: "lost-version", Family: "header", Impact: finding.Loses, Fix: finding.Exact, Always: true})
	ruleForeignLine  = texts.Rule(finding.Rule{Name: "foreign-line", Family: "chain", Impact: finding.Loses, Fix: finding.SetAside, Always: true})
	ruleRecordID     = texts.Rule(finding.Rule{Name: "record-id", Family: "chain", Impact: finding.Loses, Fix: finding.Exact, Always: true})
	ruleSameRecord   = texts.Rule(finding.Rule{Name: "same-record", Family: "chain", Impact: finding.Loses, Fix: finding.SetAside, Always: true})
	ruleBrokenLink   = texts.Rule(finding.Rule{Name: "broken-link", Family: "chain", Impact: finding.Loses, Fix: finding.Exact, Always: true})
	ruleWrongEnd     = texts.Rule(finding.Rule{Name: "wrong-end", Family: "chain", Impact: finding.Loses, Fix: finding.Exact, Always: true})
	ruleWrongKept    = texts.Rule(finding.Rule{Name: "wrong-kept", Family: "compaction", Impact: finding.Loses, Fix: finding.Exact, Always: true})
	ruleNoSummary    = texts.Rule(finding.Rule{Name: "no-summary", Family: "compaction", Impact: finding.Loses, Fix: finding.SetAside, Always: true})
	ruleBadShape     = texts.Rule(finding.Rule{Name: "bad-shape", Family: "content", Impact: finding.Blocks, Fix: finding.Exact, Always: true})
	ruleUnknownRole  = texts.Rule(finding.Rule{Name: "unknown-role", Family: "content", Impact: finding.Loses, Fix: finding.Exact, Always: true})
	ruleBadCall      = texts.Rule(finding.Rule{Name: "bad-call", Family: "content", Impact: finding.Rejects, Fix: finding.Exact, Always: true})
	ruleRefusedImage = texts.Rule(finding.Rule{Name: "refused-image", Family: "content", Impact: finding.Rejects, Fix: finding.StandIn, Always: true})
	ruleOutOfPlace   = texts.Rule(finding.Rule{Name: "out-of-place", Family: "calls", Impact: finding.Rejects, Fix: finding.Exact, Always: true})
	ruleNeighbour    = texts.Rule(finding.Rule{Name: "bad-neighbour", Family: "store", Impact: finding.Notes, Fix: finding.NoFix, Home: true})
	ruleSharedFolder = texts.Rule(finding.Rule{Name: "shared-folder", Family: "store", Impact: finding.Notes, Fix: finding.NoFix, Home: true})
)

// allRules are pi's own rules, and those of others that its checker reports.
func allRules() []*finding.Rule {
	return []*finding.Rule{
		ruleLostHeader, ruleLateHeader, ruleWrongHeader, ruleLostVersion, ruleForeignLine, ruleRecordID, ruleSameRecord, ruleBrokenLink, ruleWrongEnd,
		check.CallWithoutOutput, check.OutputWithoutCall, check.DuplicateOutput, ruleOutOfPlace, ruleBadShape, ruleUnknownRole, ruleBadCall, ruleRefusedImage, check.Refused,
		ruleWrongKept, ruleNoSummary, ruleNeighbour, ruleSharedFolder,
	}
}

// effect says what versions do with damage that any agent's session may have.
func effect(rule *finding.Rule, version string) (finding.Impact, string) {
	impact := rule.Impact
	switch rule.Name {
	case "bom":
		if traitsOf(version).ReadsBOM {
			impact = finding.Notes
		}
	case "not-object":
		impact = finding.Loses
	}
	return impact, texts.Effect(rule)
}
