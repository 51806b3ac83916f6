package faults

import (
	"strings"

	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/normalize"
)

// Effect is what a version of Claude Code, or the newest known if it is "", does with damage that any agent's session can have
// (measured: docs/dev/claude-behaviour.md).
func Effect(rule *finding.Rule, version string) (finding.Impact, string) {
	return ImpactIn(version, rule), texts.Effect(rule)
}

// ImpactIn is the impact that Effect tells.
func ImpactIn(version string, rule *finding.Rule) finding.Impact {
	impact, healed := finding.Notes, ""
	switch rule {
	case normalize.BOM:
		impact, healed = finding.Loses, "2.1.2"
	case normalize.NoFinalNewline:
		impact, healed = finding.Loses, "2.1.216"
	case normalize.LoneSurrogate:
		impact, healed = finding.Rejects, "2.1.215"
	case normalize.PrettyPrinted:
		impact, healed = finding.Blocks, "2.1.215"
	default:
		return rule.Impact
	}
	if !format.Before(version, healed) {
		return finding.Notes
	}
	return impact
}

// Healed are the messages for damage that newer versions repair by themselves.
var Healed = map[*finding.Rule]string{
	normalize.BOM:            "there is a byte order mark before the first record: versions before 2.1.2 lose that record",
	normalize.NoFinalNewline: "the last record has no newline: versions up to 2.1.215 append their next record to the same line, and the resume after that forgets everything; newer ones add the newline",
	normalize.LoneSurrogate:  "an escaped surrogate is missing its other half: versions before 2.1.215 send it, and the API refuses it; newer ones send U+FFFD",
	normalize.PrettyPrinted:  "records are laid out over several lines, as jq prints them: versions up to 2.1.100 find no conversation in such a file, or lose these records; 2.1.215 and newer read them",
}

// HealsItself says whether newer versions repair the damage of a finding by themselves. None reads UTF-16.
func HealsItself(f *finding.Finding) bool {
	return Healed[f.Rule] != "" && !strings.Contains(f.Message, "UTF-16")
}
