package lint

import (
	"fmt"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/codex"
	"github.com/hist-cli/hist/internal/session"
)

var ruleBadCompaction = &Rule{
	Name: "bad-compaction", Family: "items", Impact: Loses, Fix: Exact,
	Title: "a compaction that the client can't read",
	Text: `A compaction without a message, with a single item that the client can't read, or with replacement_history_metadata of another length than the history that it leaves, is skipped whole ` +
		`("replacement_history_metadata has N entries for M history items"), and all that was before it is sent again (measured with 0.169.0; 0.145.0 does not look at the metadata). ` +
		`Repair gives it an empty message, sets the item aside, and takes the metadata out.`,
}

// heldItem is where an item of a compaction stands, and why it has to go.
type heldItem struct {
	start, end int
	drop       *Finding
}

// compaction looks at a compaction, and at the items that it holds.
func (c *itemChecker) compaction(rec *session.Record) {
	own := ownItem(rec)
	if raw := codex.Field(rec, codex.FieldReplacement); len(raw) > 0 && raw[0] != '[' && raw[0] != 'n' {
		c.run.report(own.finding(ruleUnreadableRecord, NoFix, 0, "the client can't read this compaction, and sends all that was before it again: its replacement_history is no list"))
		own.none()
		return
	}
	if !codex.IsString(rec, codex.FieldMessage) {
		c.skipped(own, "the compaction has no message", codex.Set(rec.Raw, "payload", "message", []byte(`""`)))
	}
	before := c.sealed.compact()
	c.refused.compact()
	var items []heldItem
	c.held.Each(rec, func(held *session.Record, at int) {
		items = append(items, heldItem{at, at + len(held.Raw), c.heldItem(item{Record: held, owner: rec, at: at})})
	})
	c.sealed.compacted(before)
	c.metadata(own, items)
	for _, f := range dropHeld(items) {
		c.run.report(f)
	}
	c.last = 0
}

// skipped reports what makes the client skip a compaction.
func (c *itemChecker) skipped(own item, what string, cut Cut) {
	own.Refused = true
	f := own.finding(ruleBadCompaction, Exact, cut.Start, what+": the client can't read it, and sends all that was before it again")
	f.Edits = []Edit{own.splice(cut)}
	c.run.report(f)
}

// heldItem looks at an item of a compaction. What it returns, if anything, is why the item has to go.
func (c *itemChecker) heldItem(it item) *Finding {
	if c.modernized(it) {
		return nil
	}
	why := c.misfit(it.Record)
	if why == "" {
		return c.content(it)
	}
	it.owner.Refused = true
	f := it.finding(ruleBadCompaction, SetAside, 0, "the client skips the compaction, and sends all that was before it again, for an item that it can't read: "+why)
	f.Lost = 1
	return &f
}

// metadata compares the lengths of a compaction's two lists. Where an item is dropped, what was said of all goes with it.
func (c *itemChecker) metadata(own item, items []heldItem) {
	said := gjson.GetBytes(own.Raw, "payload.replacement_history_metadata")
	if !said.Exists() || said.Type == gjson.Null || c.run.olderThan(0, 146) {
		return
	}
	cut := codex.Drop(own.Raw, "payload", "replacement_history_metadata")
	entries := said.Get("#").Int()
	if !said.IsArray() || entries != int64(len(items)) {
		c.skipped(own, fmt.Sprintf("the compaction has %d items and metadata of %d", len(items), entries), cut)
		return
	}
	for _, it := range items {
		if it.drop != nil {
			it.drop.Edits = append(it.drop.Edits, own.splice(cut))
			return
		}
	}
}

// dropHeld takes items out of the list that a compaction holds: each with the comma behind the item in front of it or,
// where none in front stays, up to the next. The cuts of two never touch the same bytes.
func dropHeld(items []heldItem) []Finding {
	var found []Finding
	stays := false
	for i, it := range items {
		if it.drop == nil {
			stays = true
			continue
		}
		cut := Cut{Start: it.start, End: it.end}
		if stays {
			cut.Start = items[i-1].end
		} else if i+1 < len(items) {
			cut.End = items[i+1].start
		}
		it.drop.Edits = append(it.drop.Edits, Edit{At: it.drop.Pos, Op: Splice, Cuts: []Cut{cut}})
		found = append(found, *it.drop)
	}
	return found
}
