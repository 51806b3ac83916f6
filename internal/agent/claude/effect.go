package claude

import (
	"bytes"
	"slices"
	"strings"

	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/normalize"
	"github.com/hist-cli/hist/internal/session"
)

// effect is what a version of Claude Code, or the newest known if it is "", does with damage that any agent's session can have
// (measured: docs/dev/claude-behaviour.md).
func effect(rule *finding.Rule, version string) (finding.Impact, string) {
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
	case normalize.PrettyPrinted:
		impact, healed = finding.Blocks, "2.1.215"
	default:
		return rule.Impact
	}
	if version == "" || !format.Before(version, healed) {
		return finding.Notes
	}
	return impact
}

// healed are the messages for damage that newer versions repair by themselves.
var healed = map[*finding.Rule]string{
	normalize.BOM:            "there is a byte order mark before the first record: versions before 2.1.2 lose that record",
	normalize.NoFinalNewline: "the last record has no newline: versions up to 2.1.215 append their next record to the same line, and the resume after that forgets everything; newer ones add the newline",
	normalize.LoneSurrogate:  "an escaped surrogate is missing its other half: versions before 2.1.215 send it, and the API refuses it; newer ones send U+FFFD",
	normalize.PrettyPrinted:  "records are laid out over several lines, as jq prints them: versions up to 2.1.100 find no conversation in such a file, or lose these records; 2.1.215 and newer read them",
}

// isHealed says whether newer versions repair the damage of a finding by themselves. None reads UTF-16.
func isHealed(f *finding.Finding) bool {
	return healed[f.Rule] != "" && !strings.Contains(f.Message, "UTF-16")
}

// Settle adapts a finding of the normalizer to what the damage does to the clients that may read the session.
func (a *adapter) Settle(f *finding.Finding) {
	if f.Rule == normalize.TornTail || f.Rule == normalize.BadJSON {
		a.trifled(f)
		return
	}
	if f.Rule == normalize.GluedRecords {
		a.glued(f)
		return
	}
	if !isHealed(f) {
		return
	}
	usual := f.Impact
	f.Message, f.Impact = healed[f.Rule], finding.Notes
	readers := a.readers()
	if f.Rule == normalize.NoFinalNewline { // what trims files is rarely their own client: who resumes decides, not who wrote
		readers = []string{a.opts.For}
	}
	for _, version := range readers {
		f.Impact = max(f.Impact, impactIn(version, f.Rule))
	}
	if f.Rule == normalize.PrettyPrinted {
		f.Impact = min(f.Impact, usual) // the normalizer gives less if the file does not begin so
	}
}

// trifles are the types of records that are bookkeeping, not conversation.
var trifles = []string{
	"summary", "queue-operation", "last-prompt", "api-request", "api-request-blob", "api-request-shape", "file-history-snapshot", "file-history-delta",
	"mode", "permission-mode", "tools-used", "atis-latch", "cost-state", "custom-title", "agent-name", "ai-title", "tag", "pr-link",
}

// trifle is the type of an unreadable record if it was surely bookkeeping, "" if it may have been part of the conversation.
func trifle(rec *session.Record) string {
	rest, ok := bytes.CutPrefix(rec.Raw, []byte(`{"type":"`))
	typ, _, whole := bytes.Cut(rest, []byte(`"`))
	if !ok || !whole || rec.Pos.Part > 0 || !slices.Contains(trifles, string(typ)) {
		return ""
	}
	return string(typ)
}

// trifled lowers the impact of an unreadable line with which nothing of the conversation is lost: the client only shows less.
func (a *adapter) trifled(f *finding.Finding) {
	typ := a.trifles[f.Pos.Line]
	if typ == "" || f.Impact != finding.Loses {
		return
	}
	f.Impact = finding.Shows
	f.Message += "; it was bookkeeping (" + typ + "), no part of the conversation"
}
