package rules

import (
	"fmt"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/api"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/session"
)

var (
	ruleEmptyCompaction = texts.Rule(finding.Rule{Name: "empty-compaction", Family: "items", Impact: finding.Notes, Fix: finding.SetAside, ByName: true})
	ruleBadCompaction   = texts.Rule(finding.Rule{Name: "bad-compaction", Family: "items", Impact: finding.Loses, Fix: finding.Exact})
	ruleRewritten       = texts.Rule(finding.Rule{Name: "rewritten", Family: "items", Impact: finding.Shows, Fix: finding.NoFix})
)

// heldItem is where an item of a compaction stands, and why it has to go.
type heldItem struct {
	start, end int
	drop       *finding.Finding
	summary    bool // it sums up all that was said before
}

// compaction checks a compaction, and the items that it holds.
func (c *itemChecker) compaction(rec *session.Record) {
	own := ownItem(rec)
	c.begins(own)
	if raw := codex.Field(rec, codex.FieldReplacement); len(raw) > 0 && raw[0] != '[' && raw[0] != 'n' {
		c.run.Report(own.finding(ruleUnreadableRecord, finding.NoFix, 0, "the client can't read this compaction and sends everything before it again: its replacement_history is not a list"))
		own.ignore()
		return
	}
	if c.sealed.strips(c.held, rec) {
		c.strip(own)
		return
	}
	before := c.base
	c.base = rec.Pos
	c.sealed.compact()
	var items []heldItem
	kept := len(codex.Field(rec, codex.FieldMessage)) > len(`""`) || nullOrAbsent(codex.Field(rec, codex.FieldReplacement)) // without a list, the client keeps the prompts
	c.held.Each(rec, func(held *session.Record, at int) {
		kept = kept || held.Type != "response_item/message" || held.Answer || held.Boundary
		summary := codex.SumsUp(held)
		items = append(items, heldItem{at, at + len(held.Raw), c.heldItem(item{Record: held, owner: rec, at: at}), summary})
	})
	c.message(own, items)
	metadata := c.metadata(own, items)
	c.emptied = nil
	if !kept && c.spoke && !own.Refused {
		operand := ""
		if name := c.run.opts.Name; name.InHome && name.Canonical { // elsewhere, the id does not lead to the file
			operand = " " + c.run.header.ID
		}
		f := own.finding(ruleEmptyCompaction, finding.SetAside, 0, "the compaction kept nothing of what was said before it, no prompt, no answer and no summary, so the model is sent nothing of that; hist repair --rule empty-compaction"+operand+" takes it out, and all is sent again")
		f.Edits = []finding.Edit{{At: rec.Pos, Op: finding.Remove}}
		c.emptied = &f
	}
	some := stays(items)
	why := emptyBetterSkipped
	if slices.ContainsFunc(items, func(it heldItem) bool { return it.drop != nil && it.summary && it.drop.Rule == ruleBadCompaction }) {
		why, some = unreadBetterSkipped, false
	}
	for i, it := range items {
		switch {
		case it.drop == nil:
			continue
		case it.drop.Rule == ruleBadCompaction && !some:
			it.drop.Impact, it.drop.Fix, it.drop.Lost = finding.Notes, finding.NoFix, 0
			it.drop.Message += why
		default:
			cuts := []finding.Cut{{Start: it.start, End: it.end, Element: true}}
			if len(metadata) > 0 {
				cuts = append(cuts, metadata[i])
			}
			it.drop.Edits = append(it.drop.Edits, finding.Edit{At: it.drop.Pos, Op: finding.Splice, Cuts: cuts})
		}
		c.run.Report(*it.drop)
	}
	if own.Refused && !some { // the client goes on skipping it
		c.base = before
		own.ignore()
	}
	c.last = 0
}

// begins reports a compaction directly behind the header of a session that inherits nothing: what is compacted was written before.
func (c *itemChecker) begins(own item) {
	header, at := c.run.Header()
	if at.Line != 1 || c.run.Last() != at || own.Pos.Line != 2 || own.Pos.Lost != 0 || header.ForkedFrom != "" || header.BaseThread != "" || codex.OfSubagent(header) {
		return
	}
	c.run.Report(own.finding(ruleRewritten, finding.NoFix, 0, "the session begins with a compaction: what it sums up is not in the file any more; the model is sent the summary, and nobody is shown the rest"))
}

// emptyBetterSkipped is why a compaction that holds nothing is not mended: if the client skips it, everything from before is
// sent; if it could read it, nothing from before would be.
const emptyBetterSkipped = "; it holds no history of its own, so it is better skipped"

// unreadBetterSkipped is why a compaction is not mended of which the summary is in a form that nobody reads.
const unreadBetterSkipped = "; without its summary, it is better skipped"

// strip notes the encrypted items of a compaction that the repair will remove. Rules that come later ignore the compaction, but
// it still counts in what the client reads now.
func (c *itemChecker) strip(own item) {
	n := int64(0)
	c.held.Each(own.Record, func(held *session.Record, at int) {
		n++
		c.sealed.add(item{Record: held, owner: own.Record, at: at})
	})
	c.run.history.SetSeen(n)
	own.ignore()
}

// message checks a compaction's message.
func (c *itemChecker) message(own item, items []heldItem) {
	if codex.IsString(own.Record, codex.FieldMessage) {
		return
	}
	what, fix := "the compaction has no message", finding.Exact
	if v := codex.Field(own.Record, codex.FieldMessage); len(v) > 0 && v[0] != 'n' {
		what, fix = "the compaction's message is not a string", finding.SetAside
	}
	c.skipped(own, items, what, fix, session.SetMember(own.Raw, "payload", "message", []byte(`""`)))
}

// skipped reports a fault because of which the client skips a compaction.
func (c *itemChecker) skipped(own item, items []heldItem, what string, fix finding.Fix, cut finding.Cut) {
	own.Refused = true
	f := own.finding(ruleBadCompaction, fix, cut.Start, what+": the client can't read it and sends everything before it again")
	if stays(items) {
		f.Edits = []finding.Edit{own.splice(cut)}
	} else {
		f.Impact, f.Fix = finding.Notes, finding.NoFix
		f.Message += emptyBetterSkipped
	}
	c.run.Report(f)
}

// stays says whether a compaction has any item left when those that have to go are removed.
func stays(items []heldItem) bool {
	return slices.ContainsFunc(items, func(it heldItem) bool { return it.drop == nil })
}

// heldItem checks an item of a compaction. If the item has to go, it returns the finding that says why.
func (c *itemChecker) heldItem(it item) *finding.Finding {
	if c.modernized(it) {
		return c.id(it)
	}
	why := c.misfit(it.Record)
	if why == "" {
		return c.content(it)
	}
	it.owner.Refused = true
	f := it.finding(ruleBadCompaction, finding.SetAside, 0, "the client skips this compaction and sends everything before it again, because of an item that it can't read: "+why)
	if m, ok := api.Told(it.Raw, ""); ok && !m.Drop && codex.SumsUp(it.Record) { // the words of a summary stand for all that was said
		f.Message += "; its words become a message"
		f.Edits = []finding.Edit{it.splice(m.Cuts[0])}
		c.run.Report(f)
		return nil
	}
	f.Lost = 1
	return &f
}

// metadata compares the lengths of a compaction's two lists. If they are the same and an item is dropped, it returns, for each
// item, the cut that removes its metadata.
func (c *itemChecker) metadata(own item, items []heldItem) (cuts []finding.Cut) {
	said := gjson.GetBytes(own.Raw, "payload.replacement_history_metadata")
	if !said.Exists() || said.Type == gjson.Null {
		return nil
	}
	entries := said.Get("#").Int()
	if !said.IsArray() || entries != int64(len(items)) {
		if c.run.olderThan(146) {
			return nil
		}
		c.skipped(own, items, fmt.Sprintf("the compaction has %d items but metadata for %d", len(items), entries), finding.Exact,
			session.DropMember(own.Raw, "payload", "replacement_history_metadata"))
		return nil
	}
	if !slices.ContainsFunc(items, func(it heldItem) bool { return it.drop != nil }) {
		return nil
	}
	said.ForEach(func(_, entry gjson.Result) bool {
		cuts = append(cuts, finding.Cut{Start: entry.Index, End: entry.Index + len(entry.Raw), Element: true})
		return true
	})
	return cuts
}
