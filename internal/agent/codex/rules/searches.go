package rules

import (
	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/session"
)

// searchChecker looks for searches of the provider's of which only the event is left.
type searchChecker struct {
	run   *run
	shown *witness // a search's event whose item has not come yet
}

func (c *searchChecker) Record(rec *session.Record) {
	if rec.Kind == session.Unreadable || rec.Pos.Lost > 0 && c.shown != nil && c.shown.ref.Pos.Lost == 0 && !codex.IsSearch(rec) {
		return // the item may stand behind it
	}
	if c.shown != nil && !codex.IsSearch(rec) {
		c.lost(rec.Pos)
	}
	c.shown = nil
	name := codex.ShowsSearch(rec)
	if name == "" || c.run.inherited(rec) {
		return
	}
	if _, err := codex.SearchFrom(rec.Raw); err == nil {
		c.shown = &witness{ref: refOf(rec), name: name, from: rec.From}
	}
}

// Lost: see callChecker's.
func (c *searchChecker) Lost(rec *session.Record) { c.Record(rec) }

func (c *searchChecker) End() {
	if c.shown != nil {
		c.lost(session.Pos{Line: theEnd})
	}
}

// lost reports a search whose item does not stand behind its event: in front of the record at a place, or of the end.
func (c *searchChecker) lost(at session.Pos) {
	t := c.shown
	if t.ref.Pos.Lost > 0 {
		return // what the database tells of a search is both, the event and the item
	}
	f := Finding{
		Rule: ruleLostMessage, Impact: Loses, Fix: Recovered, Pos: t.ref.Pos, Offset: t.ref.Offset, Source: t.source(), On: t.ref,
		Message: "the search that this event shows is missing from what the model is sent",
	}
	content := Content{From: &t.ref, Build: codex.SearchFrom}
	switch h := c.run.holes.First(t.ref.Pos, at); {
	case h != nil:
		f.Edits, f.Hole = []Edit{h.Insert(content)}, true
	case !c.run.paginated && at.Line < theEnd:
		f.Edits = []Edit{{At: t.ref.Pos, Op: After, New: content}}
	default:
		return
	}
	c.run.report(f)
}
