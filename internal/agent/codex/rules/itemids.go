package rules

import (
	"bytes"
	"fmt"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/api"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/session"
)

var (
	ruleBadItemID       = texts.Rule(finding.Rule{Name: "bad-item-id", Family: "items", Impact: finding.Rejects, Fix: finding.Exact})
	ruleDuplicateItemID = texts.Rule(finding.Rule{Name: "duplicate-item-id", Family: "items", Impact: finding.Rejects, Fix: finding.Exact})
)

// wrongID says what is wrong with the id of a record that is a kind of item in the eyes of the session's provider; "" if nothing is, or if the
// client does not send it: it sends those that consist of two parts, of the kinds that it knows.
func (s *run) wrongID(kind string, rec *session.Record) string {
	at := bytes.IndexByte(rec.ID, '_')
	if !s.sendsIDs || at < 1 || at == len(rec.ID)-1 {
		return ""
	}
	limits, known := s.idLimits[kind]
	if !known {
		if limits = new(api.Limits); api.IDPrefix(kind) != "" {
			limits = api.LimitsOf(kind, "id").For(s.provider.Name)
		}
		s.idLimits[kind] = limits
	}
	f, _ := limits.Wrong("", codex.Field(rec, codex.FieldID))
	return f.What
}

// id checks the form of an item's id, and whether it has been seen before. If the item has to go, it returns the finding that
// says why.
func (c *itemChecker) id(it item) *finding.Finding {
	if len(it.ID) == 0 {
		c.last = 0
		return nil
	}
	id, twin := codex.Sum(it.ID), c.last
	c.last = id
	if what := c.run.wrongID(codex.ItemKind(it.Record), it.Record); what != "" {
		return c.badID(it, what)
	}
	var content uint64
	paired := it.Kind == session.Call || it.Kind == session.Output
	switch {
	case it.Kind == session.Message:
		content = codex.PayloadSum(it.Record)
	case paired && c.run.uniqueIDs:
		content = lastBytes(it.CallID)
	default:
		return nil
	}
	newest := c.seen.get(id)
	earlier := c.sent(id, newest)
	seen := seenID{content: content, at: it.owner.Pos, torn: it.Torn}
	if it.Mended {
		seen.mended = timeSum(it)
	}
	if earlier != nil && it.Kind == session.Message && !it.Torn && (earlier.torn || earlier.mended != 0 && !it.Mended && earlier.mended == timeSum(it)) {
		c.wholeAgain(it, earlier)
		c.keep(id, seen, nil)
		return nil
	}
	if earlier == nil || id != twin && !c.run.uniqueIDs {
		c.keep(id, seen, newest)
		return nil
	}
	same := earlier.content == content
	if same && paired { // that is reported where calls are paired
		return nil
	}
	return c.duplicate(it, same)
}

// lastBytes are the last bytes of an id, in which ids differ.
func lastBytes(id []byte) (last uint64) {
	for _, c := range id[max(0, len(id)-8):] {
		last = last<<8 | uint64(c)
	}
	return last
}

// seenID is what is kept of an item with an id.
type seenID struct {
	content uint64 // of a message, hashed, or the end of the call_id of a call or its output
	at      session.Pos
	torn    bool   // it was cut
	again   bool   // older has earlier items with this id
	mended  uint32 // if its line was mended, it may have run into another record: the hash of its time, by which the whole one is recognised
}

// timeSum is a hash of the time of an item's record; never 0.
func timeSum(it item) uint32 {
	return uint32(codex.Sum(codex.Field(it.owner, codex.FieldTimestamp))) | 1
}

// keptIDs is how many ids are remembered.
const keptIDs = 1 << 15

// keep notes an item. newest is the one with this id that was noted last, nil if none was.
func (c *itemChecker) keep(id uint64, it seenID, newest *seenID) {
	if newest != nil && !c.run.history.RolledBack(newest.at) {
		c.older[id] = append(c.older[id], *newest)
		it.again = true
	} else if len(c.older) > 0 {
		delete(c.older, id)
	}
	kept, gone := c.seen.add(id)
	if gone != 0 && kept.again {
		delete(c.older, gone)
	}
	*kept = it
}

// sent is the newest item with an id that is still sent, nil if there is none. newest is the one that was noted last.
func (c *itemChecker) sent(id uint64, newest *seenID) *seenID {
	gone := func(it *seenID) bool { return it.at.Less(c.base) || c.run.history.RolledBack(it.at) }
	if newest == nil || !gone(newest) {
		return newest
	}
	if newest.again {
		older := c.older[id]
		for i := len(older) - 1; i >= 0 && !older[i].at.Less(c.base); i-- {
			if !gone(&older[i]) {
				return &older[i]
			}
		}
	}
	return nil
}

// badID reports an id that is removed from its item, or together with it.
func (c *itemChecker) badID(it item, what string) *finding.Finding {
	f := it.finding(ruleBadItemID, finding.Exact, it.Spans[codex.FieldID].Start, kindOf(it)+": "+what+": the API refuses the request")
	if it.Type == "response_item/reasoning" && !bytes.HasPrefix(codex.Field(it.Record, codex.FieldEncrypted), sealed) {
		f.Fix = finding.SetAside
		return &f
	}
	f.Edits = []finding.Edit{it.blankID()}
	c.run.Report(f)
	return nil
}

// wholeAgain removes an item that was cut off, because the whole of it is in the session as well: a block was doubled.
func (c *itemChecker) wholeAgain(it item, cut *seenID) {
	f := it.finding(ruleDuplicateItemID, finding.SetAside, 0, fmt.Sprintf("the item with the id %s is whole here; line %d holds only a part of it, which is removed", check.Clip(it.ID, 64), cut.at.Line))
	f.Edits = []finding.Edit{{At: cut.at, Op: finding.Remove}}
	c.run.Report(f)
}

func (c *itemChecker) duplicate(it item, copied bool) *finding.Finding {
	f := it.finding(ruleDuplicateItemID, finding.Exact, 0, fmt.Sprintf("a second item with the id %s: the API refuses the request", check.Clip(it.ID, 64)))
	if copied {
		f.Fix = finding.SetAside
		f.Message += "; it is a copy of the first"
		return &f
	}
	f.Edits = []finding.Edit{it.blankID()}
	c.run.Report(f)
	return nil
}

// blankID replaces an item's id by as many spaces.
func (it item) blankID() finding.Edit { return it.splice(codex.BlankID(it.Raw, it.path)) }
