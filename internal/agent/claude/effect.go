package claude

import (
	"strings"

	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/normalize"
)

// Effect is what a version of Claude Code, "" is the newest known, does with damage that any agent's session may have
// (measured: docs/claude-behaviour.md).
func (Agent) Effect(rule *finding.Rule, version string) (finding.Impact, string) {
	return impactIn(version, rule), texts.Effect(rule)
}

func impactIn(version string, rule *finding.Rule) finding.Impact {
	impact, healed := finding.Notes, ""
	switch rule {
	case normalize.BOM:
		impact, healed = finding.Loses, "2.1.2"
	case normalize.NoFinalNewline:
		impact, healed = finding.Loses, "2.1.216"
	case normalize.LoneSurrogate:
		impact, healed = finding.Rejects, "2.1.215"
	default:
		return rule.Impact
	}
	if version == "" || !before(version, healed) {
		return finding.Notes
	}
	return impact
}

// healed is what is said of damage that newer versions heal.
var healed = map[*finding.Rule]string{
	normalize.BOM:            "a byte order mark stands in front of the first record: versions before 2.1.2 lose that record",
	normalize.NoFinalNewline: "the last record lacks its newline: versions up to 2.1.215 glue their next record to it, and the resume after that forgets everything; newer ones add it",
	normalize.LoneSurrogate:  "an escaped surrogate lacks its other half: versions before 2.1.215 send it, and the API refuses it; newer ones send U+FFFD",
}

// Settle gives what the normalizer found the meaning that it has for the clients that may read the session.
func (a *adapter) Settle(f *finding.Finding) {
	message := healed[f.Rule]
	if message == "" || strings.Contains(f.Message, "UTF-16") {
		return
	}
	f.Message, f.Impact = message, finding.Notes
	for _, version := range a.readers() {
		f.Impact = max(f.Impact, impactIn(version, f.Rule))
	}
}
