package rules

import (
	"hash/maphash"
	"slices"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/session"
)

// searchChecker looks for the provider's searches of which only the event is left. In sessions without ordinals, the items
// mostly have no id; they are recognised by what was searched.
type searchChecker struct {
	run   *run
	shown *witness                    // a search's event whose item has not come yet
	is    shownSearch                 // that search
	came  map[string]bool             // the ids of the searches whose items have come
	told  map[uint64][]reportedSearch // the searches that were reported as lost, by what was searched
	count int                         // how many these are
	seed  maphash.Seed
}

// shownSearch is a search that an event shows.
type shownSearch struct {
	id     string
	action uint64 // hash of what was searched
}

// reportedSearch is a search that was reported as lost.
type reportedSearch struct {
	id   string
	lost *check.Claim
}

func newSearchChecker(s *run) *searchChecker { return &searchChecker{run: s, seed: maphash.MakeSeed()} }

// maxSearches is how many searches are remembered, those whose items have come and those reported as lost. The former are
// needed because an event in a doubled block shows no further search.
const maxSearches = 1024

func (c *searchChecker) Record(rec *session.Record) {
	if rec.Kind == session.Unreadable || rec.Pos.Lost > 0 && c.shown != nil && c.shown.ref.Pos.Lost == 0 && !codex.IsSearch(rec) {
		return // the item may stand behind it
	}
	another := len(rec.ID) > 0 && string(rec.ID) != c.is.id
	if c.shown != nil && (another || !codex.IsSearch(rec)) {
		c.lost(rec.Pos)
		c.shown = nil
	}
	if codex.IsSearch(rec) {
		c.item(rec)
	}
	c.shown = nil
	name := codex.ShowsSearch(rec)
	if name == "" || c.run.review.open || c.run.prefix.here {
		return
	}
	c.is = shownSearch{codex.SearchID(rec.Raw), c.searched(rec)}
	if _, err := codex.SearchFrom(rec.Raw); err == nil && !c.came[c.is.id] {
		c.shown = &witness{ref: finding.RefOf(rec), name: name, from: rec.From}
	}
}

func (c *searchChecker) searched(rec *session.Record) uint64 {
	return maphash.String(c.seed, codex.Searched(rec.Raw))
}

// item takes the item of a search: the one that the event in front of it shows, or one that was reported as lost because
// records of another client stand between its event and it, or because a block of the file is doubled.
func (c *searchChecker) item(rec *session.Record) {
	id, action := string(rec.ID), c.searched(rec)
	if c.shown != nil && id == "" && action == c.is.action {
		id = c.is.id
	}
	told := c.told[action]
	i := slices.IndexFunc(told, func(t reportedSearch) bool { return id == "" || id == t.id })
	if i < 0 {
		c.remember(id)
		return
	}
	c.remember(told[i].id)
	told[i].lost.Refute()
	c.told[action] = slices.Delete(told, i, i+1)
	c.count--
}

func (c *searchChecker) remember(id string) {
	if c.came == nil {
		c.came = map[string]bool{}
	}
	if id != "" && len(c.came) < maxSearches {
		c.came[id] = true
	}
}

// Lost: see callChecker's.
func (c *searchChecker) Lost(rec *session.Record) { c.Record(rec) }

func (c *searchChecker) End() {
	if c.shown != nil {
		c.lost(session.Pos{Line: theEnd})
	}
}

// lost reports a search whose item does not follow its event, up to the record at a place or the end.
func (c *searchChecker) lost(at session.Pos) {
	t := c.shown
	if t.ref.Pos.Lost > 0 {
		return // the database's entry about a search stands for both the event and the item
	}
	f := t.lost("the search that this event shows is missing from what the model is sent")
	content := finding.Content{From: &t.ref, Recipe: codex.SearchRecipe{}}
	switch h := c.run.holes.First(t.ref.Pos, at); {
	case h != nil:
		f.Edits, f.Hole = []finding.Edit{h.Insert(content)}, true
	case !c.run.paginated && at.Line < theEnd && !codex.Before(c.run.header.Version, 0, 137): // before, the order is not known
		f.Edits = []finding.Edit{{At: t.ref.Pos, Op: finding.After, New: content}}
	default:
		return
	}
	told := c.told[c.is.action]
	if slices.ContainsFunc(told, func(s reportedSearch) bool { return s.id == c.is.id }) {
		return // this is a second copy of the event
	}
	if c.told == nil {
		c.told = map[uint64][]reportedSearch{}
	}
	claim := c.run.Claim(f)
	if c.count < maxSearches {
		c.told[c.is.action] = append(told, reportedSearch{c.is.id, claim})
		c.count++
	}
}
