package rules

import (
	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/session"
)

// searchChecker looks for searches of the provider's of which only the event is left.
type searchChecker struct {
	run   *run
	shown *witness               // a search's event whose item has not come yet
	id    string                 // of that search
	items map[string]bool        // the ids of items that have come
	told  map[string]session.Pos // of the findings of searches whose items had not, by their ids
}

// maxSearches is how many are remembered: a doubled block shows no search that is not there.
const maxSearches = 1024

func (c *searchChecker) Record(rec *session.Record) {
	if rec.Kind == session.Unreadable || rec.Pos.Lost > 0 && c.shown != nil && c.shown.ref.Pos.Lost == 0 && !codex.IsSearch(rec) {
		return // the item may stand behind it
	}
	if codex.IsSearch(rec) {
		c.came(string(rec.ID))
	} else if c.shown != nil {
		c.lost(rec.Pos)
	}
	c.shown = nil
	name := codex.ShowsSearch(rec)
	if name == "" || c.run.inherited(rec) {
		return
	}
	c.id = codex.SearchID(rec.Raw)
	if _, err := codex.SearchFrom(rec.Raw); err == nil && !c.items[c.id] {
		c.shown = &witness{ref: refOf(rec), name: name, from: rec.From}
	}
}

// came notes the item of a search, and takes back that it is lost.
func (c *searchChecker) came(id string) {
	if at, ok := c.told[id]; ok {
		delete(c.told, id)
		c.run.Withdraw(func(f *Finding) bool { return f.Rule == ruleLostMessage && f.Pos == at })
	}
	if c.items == nil {
		c.items, c.told = map[string]bool{}, map[string]session.Pos{}
	}
	if len(c.items) < maxSearches {
		c.items[id] = true
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
	if c.told == nil {
		c.items, c.told = map[string]bool{}, map[string]session.Pos{}
	}
	if _, again := c.told[c.id]; again {
		return
	}
	if len(c.told) < maxSearches {
		c.told[c.id] = f.Pos
	}
	c.run.report(f)
}
