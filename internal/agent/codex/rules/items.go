package rules

import (
	"math"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/api"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/normalize"
	"github.com/hist-cli/hist/internal/session"
)

var itemRules = []*finding.Rule{
	ruleBadItemID, ruleDuplicateItemID, ruleDoubledItem, ruleForeignReasoning, ruleUndecryptable, ruleReasoningOrder, ruleEmptyContent, check.Refused, ruleBadImage, ruleBadCompaction, ruleEmptyCompaction, ruleRewritten, normalize.LegacyShape, ruleUnreadableRecord,
}

// item is one item of the model's history: a record of its own, or held by a compaction.
type item struct {
	*session.Record // its own fields

	owner *session.Record // the record that it stands in: itself, or the compaction
	at    int             // offset in owner.Raw
	path  string          // gjson path of its members in its own Raw
}

func ownItem(rec *session.Record) item { return item{Record: rec, owner: rec, path: "payload"} }

// held says whether a compaction holds the item.
func (it item) held() bool { return it.Record != it.owner }

// finding is a finding about the item; at is an offset in the item's own Raw.
func (it item) finding(rule *finding.Rule, fix finding.Fix, at int, message string) finding.Finding {
	if it.held() {
		message += " (in the history that a compaction left)"
	}
	return finding.Finding{
		Rule: rule, Impact: rule.Impact, Fix: fix, Pos: it.owner.Pos, Offset: it.owner.Offset + int64(it.at+at), Record: it.owner.Type, Message: message,
	}
}

// splice is the edit that makes a cut in the item's own Raw.
func (it item) splice(cut finding.Cut) finding.Edit {
	cut.Start += it.at
	cut.End += it.at
	return finding.Edit{At: it.owner.Pos, Op: finding.Splice, Cuts: []finding.Cut{cut}}
}

// ignore takes the item out of the model's history for all later checkers.
func (it item) ignore() {
	it.Kind, it.Family = session.Other, session.NoFamily
	it.Model, it.Boundary, it.Answer = false, false, false
}

// itemChecker checks single items of the model's history. It comes before the checkers that pair items, because an item that
// the client can't read does not exist for them.
type itemChecker struct {
	run   *run
	held  *codex.Held
	seen  recent[seenID]      // items by their hashed ids
	older map[uint64][]seenID // earlier items with an id of seen, oldest first: if a compaction has replaced them, a rollback brings them back
	last  uint64              // id of the newest item, hashed

	spoke      bool             // the model has said or done something
	emptied    *finding.Finding // about the newest compaction, if it kept nothing of that
	base       session.Pos      // the newest compaction: what comes before it is not sent
	rolledBack bool             // the record before rolled turns back
	errorShown bool             // an event has told the error that ends the turn in hand

	doubled doubledItems
	sealed  sealedItems
	refused refusals
	limited *limitedItems
}

func newItemChecker(s *run) *itemChecker {
	s.limited = &limitedItems{run: s}
	return &itemChecker{
		run: s, held: codex.NewHeld(), seen: recent[seenID]{limit: keptIDs}, older: map[uint64][]seenID{}, doubled: newDoubledItems(s),
		sealed: sealedItems{run: s}, refused: refusals{run: s}, limited: s.limited,
	}
}

func (c *itemChecker) Record(rec *session.Record) {
	if c.rolledBack {
		c.rolledBack = false
		c.base = c.run.history.Base()
		c.refused.rollBack()
	}
	c.doubled.next(rec)
	switch {
	case rec.Kind == session.Compaction:
		c.run.Answered()
		c.limited.forget()
		c.compaction(rec)
	case rec.Kind == session.Rollback:
		c.last, c.rolledBack = 0, true
		c.run.Answered()
		c.limited.forget()
	case rec.Kind == session.TurnEnd, rec.Type == "event_msg/error":
		if said := recordedError(rec); len(said) > 1 && said[0] != 'n' {
			c.run.Refused(wordsOf(said), finding.RefOf(rec), rec.Kind == session.TurnEnd && c.errorShown)
			c.said(string(said), rec)
		}
		c.errorShown = rec.Kind != session.TurnEnd
	case rec.Model && rec.Type != "inter_agent_communication":
		drop := c.own(ownItem(rec))
		if rec.Answer && (drop == nil || drop.Rule != ruleDuplicateItemID && drop.Rule != ruleDoubledItem) { // a second copy is no answer
			c.run.Answered()
			c.spoke = true
		}
		if drop != nil {
			drop.Unseen, drop.Edits = 1, append(drop.Edits, finding.Edit{At: rec.Pos, Op: finding.Remove})
			c.run.Report(*drop)
		}
	}
}

// own checks an item that is a record. If the item has to go, it returns the finding that says why.
func (c *itemChecker) own(it item) *finding.Finding {
	switch {
	case it.Sound:
		return c.content(it)
	case c.modernized(it):
		return c.id(it)
	case c.readable(it):
		return c.content(it)
	}
	return nil
}

// said takes the error with which a request was refused. rec is the record of it, nil if the user has brought it.
func (c *itemChecker) said(text string, rec *session.Record) {
	why, at := api.Newest(api.Explain(text)), session.Pos{Line: math.MaxInt64}
	if rec != nil {
		at = rec.Pos
	}
	switch {
	case why == nil:
	case why.Mend == "encrypted":
		c.sealed.refused(rec)
	default:
		c.refused.said(why, at)
	}
}

func (c *itemChecker) End() {
	if asked := c.run.opts.Error; asked != "" {
		c.said(asked, nil)
	}
	c.doubled.end()
	c.sealed.report()
	c.refused.End()
	c.limited.end()
	if c.emptied != nil && c.run.history.Base() == c.emptied.Pos {
		c.run.Report(*c.emptied)
	}
}

// Explains says whether a finding is that no event shows a copy, which is no damage of its own.
func (c *itemChecker) Explains(f *finding.Finding) bool {
	return f.Rule == ruleLostEvent && c.doubled.gone[f.Pos]
}

// content checks the content of an item that the client can read. If the item has to go, it returns the finding that says why.
func (c *itemChecker) content(it item) *finding.Finding {
	c.images(it)
	drop := c.limited.check(it)
	if drop == nil {
		drop = c.id(it)
	}
	if drop == nil {
		drop = c.doubled.copied(it, c.base)
	}
	if drop == nil {
		drop = c.reasoning(it)
	}
	if drop == nil {
		c.sealed.add(it)
	}
	c.refused.add(it, drop != nil)
	return drop
}
