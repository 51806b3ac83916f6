package rules

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/session"
)

// What a repeated number does to the client's own view: two rows can't have the same one (measured with 0.171.0), but what the
// known bug leaves are no rows.
const (
	notAllShown  = "the data is complete, but the client does not show all of it: in its view, two rows can't have one number"
	skippedOver  = "the data is complete; clients from 0.154 on skip over it, older ones stop showing new turns"
	fractionsBug = " (the bug of clients 0.145 to 0.153 with fractional token counts)"
)

var (
	ruleOrdinalMissing   = texts.Rule(finding.Rule{Name: "ordinal-missing", Family: "ordinals", Impact: finding.Notes, Fix: finding.Exact, Always: true})
	ruleOrdinalInvalid   = texts.Rule(finding.Rule{Name: "ordinal-invalid", Family: "ordinals", Impact: finding.Loses, Fix: finding.Exact})
	ruleOrdinalDuplicate = texts.Rule(finding.Rule{Name: "ordinal-duplicate", Family: "ordinals", Impact: finding.Shows, Fix: finding.Exact, Always: true})
	ruleOrdinalGap       = texts.Rule(finding.Rule{Name: "ordinal-gap", Family: "ordinals", Impact: finding.Loses, Fix: finding.StandIn, Always: true})
	ruleOrdinalBackward  = texts.Rule(finding.Rule{Name: "ordinal-backward", Family: "ordinals", Impact: finding.Shows, Fix: finding.Exact, Always: true})
	ruleOrdinalInLegacy  = texts.Rule(finding.Rule{Name: "ordinal-in-legacy", Family: "ordinals", Impact: finding.Notes, Fix: finding.NoFix})
	ruleOrdinalReuse     = texts.Rule(finding.Rule{Name: "ordinal-reuse", Family: "ordinals", Impact: finding.Shows, Fix: finding.Exact, Always: true})
	ordinalRules         = []*finding.Rule{ruleOrdinalMissing, ruleOrdinalInvalid, ruleOrdinalDuplicate, ruleOrdinalGap, ruleOrdinalBackward, ruleOrdinalInLegacy, ruleOrdinalReuse}
)

// ordinalChecker checks the ordinals of a paginated session.
type ordinalChecker struct {
	run     *run
	prev    session.Ordinal
	when    []byte      // when the last record was written
	size    int         // of its bytes
	dead    int64       // unreadable lines since then: each may have had a number
	missing int64       // records without a number at the tail, since the last with one,
	first   finding.Ref // and the first of them
	legacy  bool
	float   bool        // a token count with fractions stands just before,
	at      finding.Ref // here,
	stamp   []byte      // written then
	seenAny bool
	order   order
	gaps    numberGaps
	odd     oddNumbers
	told    bool                  // the newest record with a number tells the model that others of what a sub-agent inherited are lost
	fills   map[session.Pos]int64 // nil until it is asked
	turn    session.Pos           // where the turn in hand begins
	losses  []session.Pos         // what other findings say is lost, in the order of their places; nil until it is asked
	inFront bool                  // the newest record with a number is a message that a repair has put in front of everything
	// restored is how many records are restored from elsewhere behind the newest one with a number.
	restored int64
}

func (c *ordinalChecker) Record(rec *session.Record) {
	switch {
	case rec.Kind == session.Unreadable:
		if !rec.Blank || rec.Zeros {
			c.dead++
		}
		return
	case rec.Ordinal.State == session.GoodOrdinal && c.run.header.Mode != "legacy":
		c.order.add(rec)
		defer c.gaps.came(rec.Ordinal.Value)
	}
	if !c.run.paginated {
		if rec.Ordinal.State == session.GoodOrdinal && c.run.header.Mode == "legacy" && !c.legacy {
			c.legacy = true
			c.run.Report(ruleOrdinalInLegacy.Of(rec, "this record has an ordinal, but the header says that the session has none"))
		}
		return
	}
	switch rec.Ordinal.State {
	case session.NoOrdinal:
		if c.missing++; c.missing == 1 {
			c.first = finding.RefOf(rec)
		}
		return
	case session.BadOrdinal:
		c.invalid(rec)
		return
	}
	c.flushMissing(false)
	if rec.Kind == session.Header && c.seenAny && rec.Ordinal.Value != c.prev.Value+1 {
		return // a misplaced or second header is a finding of its own, and says nothing about the sequence
	}
	c.step(rec)
	c.follow(rec, rec.Ordinal.Value)
}

func (c *ordinalChecker) follow(rec *session.Record, value int64) {
	c.prev = session.Ordinal{State: session.GoodOrdinal, Value: value}
	c.dead, c.seenAny, c.restored, c.inFront = 0, true, 0, putInFront(rec)
	c.when, c.size = append(c.when[:0], codex.Literal(rec, codex.FieldTimestamp)...), len(rec.Raw)
	c.told = value+1 < c.run.header.SubagentStart && codex.IsLostHere(rec)
	c.float = rec.Type == "event_msg/token_count" && codex.HasFraction(codex.Field(rec, codex.FieldRateLimits))
	if c.float {
		c.at = finding.RefOf(rec)
		c.stamp = append(c.stamp[:0], codex.Text(rec, codex.FieldTimestamp)...)
	}
}

// invalid mends an ordinal that the client can't read: with the number that it means if that fits, or else with the next in
// line.
func (c *ordinalChecker) invalid(rec *session.Record) {
	want := c.prev.Value + 1
	if !c.seenAny {
		want = 0
	}
	raw := codex.Field(rec, codex.FieldOrdinal)
	if v, err := strconv.ParseFloat(strings.Trim(string(raw), `"`), 64); err == nil && v == float64(int64(v)) && int64(v) >= want && int64(v) <= want+c.dead {
		want = int64(v)
	}
	span := rec.Spans[codex.FieldOrdinal]
	f := ruleOrdinalInvalid.Of(rec, fmt.Sprintf("ordinal %s is not a whole number: the client drops the record", check.Clip(raw, 24))).With(
		finding.Edit{At: rec.Pos, Op: finding.Splice, Cuts: []finding.Cut{{Start: span.Start, End: span.End, New: strconv.AppendInt(nil, want, 10)}}})
	if rec.Kind == session.Header && !c.seenAny {
		f.Impact = finding.Blocks
		f.Message += "; because it is the header, the client doesn't know whose session this is"
	}
	c.run.Report(f)
	c.flushMissing(false)
	c.follow(rec, want)
}

// step compares a record's ordinal with the one before.
func (c *ordinalChecker) step(rec *session.Record) {
	value := rec.Ordinal.Value
	if rec.Kind == session.TurnStart {
		c.turn = rec.Pos
	}
	if !c.seenAny {
		return
	}
	want := c.prev.Value + 1
	switch {
	case c.goesOn(rec):
	case value == want:
	case value > want && value <= want+c.dead:
		for n := want; n < value; n++ { // the dead lines had these
			c.gaps.came(n)
		}
	case value == c.prev.Value && c.float && codex.SkipsUnread(c.run.client): // that client gives the record before no number
	case value == c.prev.Value:
		c.outside(rec, want)
		c.sequence(ruleOrdinalDuplicate, rec, fmt.Sprintf("ordinal %d for the second time", value))
	case value < want:
		c.outside(rec, want)
		c.sequence(ruleOrdinalBackward, rec, fmt.Sprintf("ordinal %d after %d", value, c.prev.Value))
	default:
		c.outside(rec, want)
		c.gap(rec, want)
	}
}

// ofFractions says whether a record follows what that bug leaves: fractional token counts, then a settings, goal or task record.
func (c *ordinalChecker) ofFractions(rec *session.Record) bool {
	switch rec.Type {
	case "event_msg/thread_settings_applied", "event_msg/thread_goal_updated", "event_msg/task_started":
		return c.float
	}
	return false
}

func (c *ordinalChecker) sequence(rule *finding.Rule, rec *session.Record, message string) {
	f := rule.Of(rec, message).With(finding.Edit{At: rec.Pos, Op: finding.Renumber})
	f.Impact, f.Fix = finding.Shows, finding.Exact
	switch {
	case rule == ruleOrdinalGap: // see Settle
	case rule == ruleOrdinalBackward && c.gaps.holding(rec.Ordinal.Value) != nil: // its number is what tells where it belongs
		f.Impact, f.Message = finding.Notes, f.Message+"; the number is missing further up, where the record belongs"
		if c.run.olderThan(154) {
			f.Impact = finding.Shows
		}
	case !c.ofFractions(rec):
		f.Message += "; " + notAllShown
	case c.run.olderThan(154):
		f.Message += fractionsBug + "; " + skippedOver
	default:
		f.Impact, f.Message = finding.Notes, f.Message+fractionsBug+"; "+skippedOver
	}
	if c.prev.Value+1 < c.run.header.SubagentStart { // what a sub-agent inherited keeps its numbers
		f.Fix, f.Edits = finding.NoFix, nil
	}
	c.run.Report(f)
}

// flushMissing reports the records without an ordinal so far: in the middle they are a note; at the end, the client refuses the
// session.
func (c *ordinalChecker) flushMissing(tail bool) {
	if c.missing == 0 {
		return
	}
	f := ruleOrdinalMissing.At(c.first, "", fmt.Sprintf("%d records without an ordinal in the middle; clients from 0.154 on do not show them", c.missing))
	f.Count, f.Edits = c.missing, []finding.Edit{{At: c.first.Pos, Op: finding.Renumber}}
	if c.prev.Value+1 < c.run.header.SubagentStart { // what a sub-agent inherited keeps its numbers
		f.Fix, f.Edits = finding.NoFix, nil
	}
	if tail {
		f.Impact = finding.Blocks
		last := "the last record has"
		if c.missing > 1 {
			last = fmt.Sprintf("the last %d records have", c.missing)
		}
		f.Message = last + " no ordinal, as an older client writes them: newer ones refuse to go on"
	} else if c.run.olderThan(154) {
		f.Impact = finding.Shows
	}
	c.dead += c.missing // they may have had the numbers that follow
	c.missing = 0
	c.run.Report(f)
}

func (c *ordinalChecker) End() {
	if !c.run.paginated {
		return
	}
	c.wasNewest()
	if c.run.header.SubagentStart == 0 {
		for _, f := range c.order.findings() {
			c.rightWhereItGoes(&f)
			c.run.Report(f)
		}
	}
	tail := c.missing == 0
	c.flushMissing(true)
	if tail && c.float && !c.run.opts.Live && c.run.olderThan(154) && !c.run.olderThan(145) {
		c.reuse()
	}
}

// Explains says whether a finding is only about copies of records, which are one finding themselves.
func (c *ordinalChecker) Explains(f *finding.Finding) bool { return !f.First && c.order.explains(f) }

// rightWhereItGoes forgets that the numbers of records seemed wrong that a finding moves: they are those of where these go.
func (c *ordinalChecker) rightWhereItGoes(f *finding.Finding) {
	for _, e := range f.Edits {
		if odd, is := c.odd.found[e.At]; is && e.Moved {
			delete(c.odd.found, e.At)
			c.gaps.came(odd.value)
		}
	}
}

// reuse reports, before it happens, that a client will give the next record the number of the last: it looks for the last
// number behind token counts that it can't read. A record behind these that it can read prevents that (0.148 and 0.150,
// measured).
func (c *ordinalChecker) reuse() {
	message := "the session ends with fractional token counts: clients before 0.154 give what they write next an ordinal that is already taken, and stop showing new turns"
	c.run.Report(ruleOrdinalReuse.At(c.at, "event_msg/token_count", message).With(
		finding.Edit{At: c.at.Pos, Op: finding.After, Tail: true, New: finding.Content{Literal: codex.NewTokenCount(string(c.stamp), nil)}}))
}
