package rules

import (
	"fmt"
	"hash/maphash"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/session"
)

var ruleTokenGap = texts.Rule(finding.Rule{Name: "token-gap", Family: "calls", Impact: finding.Loses, Fix: finding.StandIn})

// tokenChecker finds answers that are lost from a session without ordinals, where lost records leave no other trace. With each
// answer of the model, the client writes how many tokens it took, and the sum so far. If the sum grows by more than that, the
// count of another answer is lost, and so are the records around it. (Measured with 0.79.0 to 0.150.0: in no healthy session
// does the sum jump, whatever was killed, compacted or resumed in it. Up to 0.72 it does in reviews, so these are left out.)
type tokenChecker struct {
	run   *run
	total int64            // the newest sum, 0 if none is known
	at    int64            // the line of the newest sum
	when  string           // its time
	next  session.Pos      // the first place behind it where a message to the model can be inserted
	stamp string           // the time of the record at that place
	turns int              // how many answers have come since; outputs or a prompt between two tell them apart
	over  bool             // the next part of an answer begins another one
	known bool             // damage since the newest sum, or the loss itself, is reported by another rule
	mixed bool             // two clients have written, each with its own sum
	told  []*check.Claim   // what seems to be lost since a turn began while no other one ran
	alone *finding.Finding // the finding about a sum that grew after outputs or a prompt, but without an answer
	seed  maphash.Seed
	calls recent[struct{}] // the newest calls, by the hashes of their ids
}

// tokenCalls is how many calls are remembered until their outputs come.
const tokenCalls = 1 << 12

func newTokenChecker(s *run) *tokenChecker {
	return &tokenChecker{run: s, seed: maphash.MakeSeed(), calls: recent[struct{}]{limit: tokenCalls}}
}

func (c *tokenChecker) Record(rec *session.Record) {
	c.settle(rec)
	c.writers(rec)
	switch {
	case c.run.paginated || c.mixed || c.run.prefix.here:
	case rec.Kind == session.Unreadable, rec.Mended, rec.Kind == session.Compaction, rec.Kind == session.Rollback:
		c.known = true
	case rec.Type == "event_msg/token_count":
		if !c.run.review.open { // its thread has a sum of its own
			c.count(rec)
		}
	default:
		c.known = c.withoutCall(rec) || c.known || codex.IsLostAnswer(rec)
		if c.next.Line == 0 && begins(rec) {
			c.next, c.stamp = rec.Pos, codex.Stamp(rec)
		}
		c.answers(rec)
	}
}

// writers finds out that two clients write, each with its own sum: then nothing follows from these.
func (c *tokenChecker) writers(rec *session.Record) {
	if c.run.crossed.begins(rec) {
		c.told = c.told[:0]
	}
	if !c.run.crossed.here {
		return
	}
	c.mixed, c.alone = true, nil
	for _, lost := range c.told {
		lost.Refute()
	}
	c.told = nil
}

// withoutCall says whether a record is an output whose call has not come. Another rule reports that, and the lost call may be
// the answer that was counted.
func (c *tokenChecker) withoutCall(rec *session.Record) bool {
	switch rec.Kind {
	case session.Call:
		c.calls.put(maphash.Bytes(c.seed, rec.CallID), struct{}{})
	case session.Output:
		return c.calls.get(maphash.Bytes(c.seed, rec.CallID)) == nil
	}
	return false
}

// answers counts the answers since the newest sum. If the answer is there, only its count may be lost.
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

// begins says whether an answer or a prompt may begin with a record: a message, the event in front of one, or a call.
func begins(rec *session.Record) bool {
	if rec.Kind == session.Evidence {
		return codex.Repeats(rec, codex.TellsUser|codex.TellsAgent|codex.TellsThought)
	}
	return rec.Model && rec.Kind != session.Output
}

// Lost takes a record that was restored, as callChecker's does.
func (c *tokenChecker) Lost(rec *session.Record) { c.known = true }

func (c *tokenChecker) End() {}

func (c *tokenChecker) count(rec *session.Record) {
	total, took := codex.Tokens(rec)
	if total <= 0 || total == c.total && codex.Stamp(rec) == c.when { // a copy of the newest one, in a doubled block
		return
	}
	switch grown := total - c.total; {
	case c.total == 0 || total == took: // the first sum, or the first of a client that began to count anew
	case grown == took && !c.known && c.turns == 0 && c.over && !codex.Before(c.run.header.Version, 0, 72):
		c.unanswered(rec, grown)
	case grown < 0:
		c.mixed, c.alone = true, nil
	case took > 0 && grown > took && !c.known && c.turns < 2:
		c.gap(rec, grown, took)
	}
	c.total, c.at, c.when = total, rec.Pos.Line, codex.Stamp(rec)
	c.next, c.known, c.turns, c.over = session.Pos{}, false, 0, false
}

// unanswered keeps a sum that grew although only outputs or a prompt came before it, and no answer. Their answer is lost if
// another answer follows. Otherwise nothing need be lost: a compaction, which takes tokens as well, comes directly after its
// count, and an answer that says nothing ends its turn. (Measured with 0.72.0 to 0.150.0: in 230 healthy sessions no such sum
// is followed by an answer.)
func (c *tokenChecker) unanswered(rec *session.Record, grown int64) {
	f := lostAnswer(rec, rec.Pos, codex.Stamp(rec), fmt.Sprintf("the client's token count goes up by %d since line %d with no answer in between: an answer is lost, with what its tools said", grown, c.at))
	c.alone = &f
}

// lostAnswer is a finding about a count, with a message to the model in front of the record at a place.
func lostAnswer(rec *session.Record, at session.Pos, stamp, message string) finding.Finding {
	f := ruleTokenGap.Of(rec, message).With(finding.Edit{At: at, Op: finding.Before, New: finding.Content{Literal: codex.LostAnswer(stamp)}})
	f.Lost = 1
	return f
}

// settle reports such a sum as soon as it is clear that an answer follows.
func (c *tokenChecker) settle(rec *session.Record) {
	if c.alone == nil || rec.Type == "event_msg/token_count" || rec.Kind == session.Context || rec.Kind == session.Other {
		return
	}
	if answers(rec) || codex.Repeats(rec, codex.TellsAgent|codex.TellsThought) {
		c.report(*c.alone)
	}
	c.alone = nil
}

func (c *tokenChecker) gap(rec *session.Record, grown, took int64) {
	at, stamp := c.next, c.stamp
	if at.Line == 0 {
		at, stamp = rec.Pos, codex.Stamp(rec)
	}
	c.report(lostAnswer(rec, at, stamp, fmt.Sprintf("the client's token count goes up by %d since line %d, but the answer before it took %d: another answer is lost, with what its tools said", grown, c.at, took)))
}

func (c *tokenChecker) report(f finding.Finding) {
	c.told = append(c.told, c.run.Claim(f))
}
