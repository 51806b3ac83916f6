package rules

import (
	"fmt"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/normalize"
	"github.com/hist-cli/hist/internal/session"
)

var ruleUnreadableRecord = texts.Rule(finding.Rule{Name: "unreadable-record", Family: "items", Impact: finding.Loses, Fix: finding.NoFix})

// readable says whether the client reads an item, and reports it if not.
func (c *itemChecker) readable(it item) bool {
	why := c.misfit(it.Record)
	if why == "" || c.limited.getsID(it) && codex.LacksCallID(it.Record) {
		return true
	}
	f := it.finding(ruleUnreadableRecord, finding.SetAside, 0, "the client can't read this item: "+why)
	f.Edits = []finding.Edit{{At: it.Pos, Op: finding.Remove}}
	c.run.Report(f)
	it.ignore()
	it.Kind = session.Unreadable
	c.run.holes.Unread(it.Record)
	return false
}

// misfit says why the client can't read an item, "" if it can. It says nothing about clients newer than any that was measured.
func (c *itemChecker) misfit(rec *session.Record) string {
	switch {
	case rec.Kind == session.Unreadable:
		return "it is not an object"
	case c.run.newer:
		return ""
	}
	return codex.Misfit(rec)
}

// modernized reports an item that only has another shape than the client reads; false if it has not.
func (c *itemChecker) modernized(it item) bool {
	if it.Kind == session.Unreadable || c.run.newer {
		return false
	}
	cut, what := codex.Modernize(it.Record)
	if what == "" {
		return false
	}
	skipped := "item"
	if it.held() {
		skipped = "compaction"
	}
	it.owner.Refused = true
	f := it.finding(normalize.LegacyShape, finding.Exact, cut.Start, fmt.Sprintf("%s: the client skips the %s", what, skipped))
	f.Edits = []finding.Edit{it.splice(cut)}
	c.run.Report(f)
	return true
}
