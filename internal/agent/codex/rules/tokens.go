package rules

import (
	"fmt"
	"hash/maphash"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/session"
)

var ruleTokenGap = texts.Rule(Rule{Name: "token-gap", Family: "calls", Impact: Loses, Fix: StandIn})

// tokenChecker follows the client's count of tokens through a session without ordinals, where lost records leave no
// other trace. With each answer of the model's the client writes what it took, and the sum of all before and with it:
// a sum that grows by more than the answer tells of one whose count is lost, with what stood around it (measured with
// 0.79.0 to 0.150.0: no session that lost nothing has such a jump, whatever was killed, compacted or resumed in it; up to
// 0.72 a review has one, and is not looked at).
type tokenChecker struct {
	run   *run
	total int64       // the newest sum, 0 if none is known
	at    int64       // its line
	next  session.Pos // where a message to the model may stand behind it
	stamp string      // its time
	turns int         // answers that stand behind it, as far as they can be told apart: by the outputs between them
	over  bool        // what comes next begins another one
	known bool        // damage between it and here is told already, or so is the loss
	mixed bool        // the sums are those of two writers
	other reviews     // whose thread has a sum of its own
	alone *Finding    // a sum that grew behind outputs or a prompt, with no answer in front of it
	seed  maphash.Seed
	calls recent[struct{}] // the newest calls, by their hashed ids
}

// tokenCalls is how many calls are known again when their outputs come.
const tokenCalls = 1 << 12

func newTokenChecker(s *run) *tokenChecker {
	return &tokenChecker{run: s, seed: maphash.MakeSeed(), calls: recent[struct{}]{limit: tokenCalls}}
}

func (c *tokenChecker) Record(rec *session.Record) {
	c.settle(rec)
	switch {
	case c.run.paginated || c.mixed || c.run.inherited(rec):
	case rec.Kind == session.Unreadable, rec.Mended, rec.Kind == session.Compaction, rec.Kind == session.Rollback:
		c.known = true
	case rec.Type == "event_msg/token_count":
		if !c.other.open {
			c.count(rec)
		}
	default:
		c.other.see(rec)
		c.known = c.withoutCall(rec) || c.known || codex.IsLostAnswer(rec)
		if c.next.Line == 0 && begins(rec) {
			c.next, c.stamp = rec.Pos, codex.Stamp(rec)
		}
		c.answers(rec)
	}
}

// withoutCall says whether a record is the output of a call that does not stand in front of it, of which others tell: then that
// may be the answer that was counted.
func (c *tokenChecker) withoutCall(rec *session.Record) bool {
	switch rec.Kind {
	case session.Call:
		c.calls.put(maphash.Bytes(c.seed, rec.CallID), struct{}{})
	case session.Output:
		return c.calls.get(maphash.Bytes(c.seed, rec.CallID)) == nil
	}
	return false
}

// answers counts the answers behind the newest sum. Of one that is there only its count may be lost.
func (c *tokenChecker) answers(rec *session.Record) {
	switch {
	case rec.Kind == session.Output || rec.Boundary:
		c.over = true
	case answers(rec):
		if c.over || c.turns == 0 {
			c.turns++
		}
		c.over = false
	}
}

// answers says whether a record is a part of an answer.
func answers(rec *session.Record) bool {
	return rec.Model && (rec.Answer || rec.Kind == session.Call || rec.Type == "response_item/reasoning")
}

// begins says whether a record may be the first of an answer, or what the user says next: a message, the event in front of
// one, or a call.
func begins(rec *session.Record) bool {
	if rec.Kind == session.Evidence {
		tells, _ := codex.Evidence(rec)
		return tells&(codex.TellsUser|codex.TellsAgent|codex.TellsThought) != 0
	}
	return rec.Model && rec.Kind != session.Output
}

// Lost: see callChecker's.
func (c *tokenChecker) Lost(rec *session.Record) { c.known = true }

func (c *tokenChecker) End() {}

func (c *tokenChecker) count(rec *session.Record) {
	total, took := codex.Tokens(rec)
	if total <= 0 {
		return
	}
	switch grown := total - c.total; {
	case c.total == 0 || total == took: // the first, or that of a client that began anew
	case grown == took && !c.known && c.turns == 0 && c.over && !codex.Before(c.run.header.Version, 0, 72):
		c.unanswered(rec, grown)
	case grown < 0:
		c.mixed = true
	case took > 0 && grown > took && !c.known && c.turns < 2:
		c.gap(rec, grown, took)
	}
	c.total, c.at, c.next, c.known, c.turns, c.over = total, rec.Pos.Line, session.Pos{}, false, 0, false
}

// unanswered keeps a count of tokens that grew though no answer stands in front of it: an answer to the outputs or the prompt
// there is lost, and its own count, too, if what follows is another answer. A compaction takes tokens as well, but stands
// right behind its count; an answer that says nothing ends its turn (measured with 0.72.0 to 0.150.0: in 230 sessions that
// lost nothing no such count is followed by an answer).
func (c *tokenChecker) unanswered(rec *session.Record, grown int64) {
	c.alone = &Finding{
		Rule: ruleTokenGap, Impact: Loses, Fix: StandIn, Pos: rec.Pos, Offset: rec.Offset, Record: rec.Type, Lost: 1,
		Message: fmt.Sprintf("the client's token count goes up by %d since line %d with no answer in between: an answer is lost, with what its tools said", grown, c.at),
		Edits:   []Edit{{At: rec.Pos, Op: Before, New: Content{Literal: codex.LostAnswer(codex.Stamp(rec))}}},
	}
}

// settle tells of such a count once it is clear what follows.
func (c *tokenChecker) settle(rec *session.Record) {
	if c.alone == nil || rec.Type == "event_msg/token_count" || rec.Kind == session.Context || rec.Kind == session.Other {
		return
	}
	tells, _ := codex.Evidence(rec)
	if answers(rec) || tells&(codex.TellsAgent|codex.TellsThought) != 0 {
		c.run.report(*c.alone)
	}
	c.alone = nil
}

func (c *tokenChecker) gap(rec *session.Record, grown, took int64) {
	at, stamp := c.next, c.stamp
	if at.Line == 0 {
		at, stamp = rec.Pos, codex.Stamp(rec)
	}
	c.run.report(Finding{
		Rule: ruleTokenGap, Impact: Loses, Fix: StandIn, Pos: rec.Pos, Offset: rec.Offset, Record: rec.Type, Lost: 1,
		Message: fmt.Sprintf("the client's token count goes up by %d since line %d, but the answer before it took %d: another answer is lost, with what its tools said", grown, c.at, took),
		Edits:   []Edit{{At: at, Op: Before, New: Content{Literal: codex.LostAnswer(stamp)}}},
	})
}
