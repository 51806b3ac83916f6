package claude

import (
	"bytes"
	"slices"

	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/normalize"
	"github.com/hist-cli/hist/internal/session"
)

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
	if !faults.HealsItself(f) {
		return
	}
	usual := f.Impact
	f.Message, f.Impact = faults.Healed[f.Rule], finding.Notes
	readers := a.readers()
	if f.Rule == normalize.NoFinalNewline { // what trims files is rarely their own client: who resumes decides, not who wrote
		readers = []string{a.opts.For}
	}
	for _, version := range readers {
		f.Impact = max(f.Impact, faults.ImpactIn(version, f.Rule))
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
