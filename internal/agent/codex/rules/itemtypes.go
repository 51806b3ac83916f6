package rules

import (
	"fmt"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/session"
)

var (
	ruleLegacyShape = &Rule{
		Name: "legacy-shape", Family: "items", Impact: Loses, Fix: Exact,
		Title: "an item in a shape that the client does not read",
		Text: `An output that is an object, or the timeout of a shell call that is written as 1000.0: the client skips the item, and with it what belongs to it; in a compaction it skips all of that (measured with 0.145.0 and 0.169.0). ` +
			`Repair writes the same in the shape that is read. Events and settings in old shapes are no part of the model's history, and not reported.`,
	}
	ruleUnreadableRecord = &Rule{
		Name: "unreadable-record", Family: "items", Impact: Loses, Fix: NoFix,
		Title: "an item that the client can't read, though it is JSON",
		Text: `The client reads items with a strict type. One that lacks a member, or has another type there, it skips without a word; what belongs to it is dropped, or answered "aborted" ` +
			`(measured with 0.145.0 and 0.169.0). What is missing can't be invented: the item stays as it is. The sessions of a client newer than 0.169 are not judged, nor are events and settings.`,
	}
)

// readable says whether the client reads an item, and reports it if not.
func (c *itemChecker) readable(it item) bool {
	why := c.misfit(it.Record)
	if why == "" {
		return true
	}
	f := it.finding(ruleUnreadableRecord, NoFix, 0, "the client can't read this item: "+why)
	if it.Kind == session.Message {
		f.Lost = 1 // what becomes of a call or an output is told by those that pair them
	}
	c.run.report(f)
	it.ignore()
	return false
}

// misfit says why the client can't read an item, "" if it can. Of clients that are newer than any measured nothing is said.
func (c *itemChecker) misfit(rec *session.Record) string {
	switch {
	case rec.Kind == session.Unreadable:
		return "it is no object"
	case c.run.newer:
		return ""
	}
	return codex.Misfit(rec)
}

// modernized reports an item that is only in another shape than the client reads, and says whether it is.
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
	f := it.finding(ruleLegacyShape, Exact, cut.Start, fmt.Sprintf("%s: the client skips the %s", what, skipped))
	f.Edits = []Edit{it.splice(cut)}
	c.run.report(f)
	return true
}
