package rules

import (
	"bytes"
	"fmt"
	"math/bits"
	"slices"
	"sort"
	"strconv"
	"time"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// numberGaps are the ordinals that no record has. No client leaves one out (none of 134 recorded sessions and 41 that survived
// random faults has a gap), so records are lost there, unless they stand elsewhere in the file.
type numberGaps struct {
	highest int64       // the highest number so far
	list    []numberGap // in the order of their numbers
}

// numberGap is one run of such ordinals.
type numberGap struct {
	from, to int64       // the first, and the one behind the last
	left     int64       // how many of them have not come since
	behind   session.Pos // the record before
	at       session.Pos // the record behind
	stamp    string      // when that was written
	counted  bool        // it counts tokens
	restored int64       // how many records were found elsewhere that belong there
}

// maxNumberGaps is how many gaps are remembered. Of more, the rest is not a loss but another numbering.
const maxNumberGaps = 1 << 12

// came takes the number of a record.
func (g *numberGaps) came(n int64) {
	if n > g.highest {
		g.highest = n
		return
	}
	if gap := g.holding(n); gap != nil {
		gap.left--
	}
}

// holding finds the gap that a number belongs to, nil if there is none.
func (g *numberGaps) holding(n int64) *numberGap {
	i := sort.Search(len(g.list), func(i int) bool { return g.list[i].to > n })
	if i < len(g.list) && g.list[i].from <= n {
		return &g.list[i]
	}
	return nil
}

// before finds the gap in front of a record, nil if there is none.
func (g *numberGaps) before(at session.Pos) *numberGap {
	i := sort.Search(len(g.list), func(i int) bool { return !g.list[i].at.Less(at) })
	if i < len(g.list) && g.list[i].at == at {
		return &g.list[i]
	}
	return nil
}

// gap takes a record in front of which ordinals are missing, from want on. In what a sub-agent inherited they stay missing behind the
// message that tells the model so.
func (c *ordinalChecker) gap(rec *session.Record, want int64) {
	value := rec.Ordinal.Value
	if c.told {
		return
	}
	if from := max(want, c.gaps.highest+1); from < value && !c.inFront && len(c.gaps.list) < maxNumberGaps {
		c.gaps.list = append(c.gaps.list, numberGap{from: from, to: value, left: value - from - c.dead, behind: c.run.Last(), at: rec.Pos, stamp: codex.Stamp(rec), counted: rec.Type == "event_msg/token_count" || rec.Type == "token_usage_record", restored: c.restored})
	}
	c.sequence(ruleOrdinalGap, rec, fmt.Sprintf("ordinal %d after %d", value, c.prev.Value))
}

// Lost takes a record that is restored from elsewhere.
func (c *ordinalChecker) Lost(*session.Record) { c.restored++ }

// Settle says what a gap in the ordinals means, now that it is known what else stands in the file, and what was found of what is
// missing there. If nothing was, the model is told once.
func (c *ordinalChecker) Settle(f *finding.Finding) {
	if odd, is := c.odd.found[f.Pos]; is && slices.Contains(ordinalRules, f.Rule) {
		c.settleOdd(f, odd)
		return
	}
	if f.Rule == ruleDoubledItem && f.First {
		f.Unseen -= c.order.counted(c.run.Findings())
	}
	if f.Rule != ruleOrdinalGap {
		return
	}
	gap := c.gaps.before(f.Pos)
	filled := int64(0)
	if gap != nil {
		filled = c.run.holes.Filled(gap.behind)
	}
	switch {
	case gap != nil && c.lone(gap):
		f.Fix = finding.Exact
		c.harmless(f, fmt.Sprintf("this record is number %d, and no record is lost; the client goes on from the wrong number", gap.from))
	case gap == nil || gap.left <= 0:
		c.harmless(f, "no record is lost, what has the numbers between them stands elsewhere")
	case !c.run.history.Base().Less(f.Pos):
		c.harmless(f, fmt.Sprintf("%s lost here, in front of a compaction: they are not sent any more", records(gap.left)))
	case gap.restored >= gap.left:
		c.harmless(f, "what has the numbers between them is put back")
	case gap.restored > 0:
		f.Impact = finding.Loses
		f.Message += fmt.Sprintf(": %s lost here; found elsewhere and put back: %d", records(gap.left), gap.restored)
	case c.explained(gap, filled):
		f.Impact = finding.Loses
		f.Message += fmt.Sprintf(": %s lost here; what was found of them is put back", records(gap.left))
	default:
		f.Impact, f.Lost = finding.Loses, 1
		f.Message += fmt.Sprintf(": %s lost behind line %d, with whatever was told to the model there", records(gap.left-filled), gap.behind.Line)
		f.Fix = finding.StandIn
		f.Edits = append(f.Edits, finding.Edit{At: gap.behind, Op: finding.After, New: finding.Content{Literal: codex.LostHere(gap.stamp, gap.left-filled)}})
	}
}

// explained says whether the records that are known to be missing in a gap, filled of them, and the counts of tokens that clients
// write with them (one behind a call, two behind anything else) are all that is missing. A count that stands behind the gap is not.
func (c *ordinalChecker) explained(gap *numberGap, filled int64) bool {
	if c.fills == nil {
		c.fills = map[session.Pos]int64{}
		for _, f := range c.run.Findings() {
			for _, e := range f.Edits {
				counts := int64(2)
				if f.Rule == ruleOutputWithoutCall || f.Rule == ruleOrdinalGap {
					counts = 1
				}
				c.fills[e.At] = max(c.fills[e.At], counts)
			}
		}
	}
	counts := max(1, c.fills[gap.behind])
	if gap.counted {
		counts--
	}
	return filled > 0 && gap.left <= filled+counts
}

// oddNumbers are the records whose ordinal alone is wrong: a bit has flipped in it, or it is there twice. The records before and behind
// have the numbers that they have if it had the right one.
type oddNumbers struct {
	last  oddNumber // the newest record that is out of the sequence, zero behind one that follows it
	found map[session.Pos]oddNumber
	// newest are those behind which a client began a turn with the number that follows, or has written nothing yet.
	newest map[session.Pos]oddNumber
}

type oddNumber struct {
	pos     session.Pos
	span    jsonl.Span // of its ordinal
	value   int64
	want    int64         // the right one, or the first that may be
	dead    int64         // how many more may be
	highest int64         // the highest ordinal in front of it
	passed  time.Duration // since the record before was written
	turn    session.Pos   // where the turn begins that the record goes on with
}

// outside notes a record that is out of the sequence.
func (c *ordinalChecker) outside(rec *session.Record, want int64) {
	if c.gaps.holding(rec.Ordinal.Value) == nil && !c.again(rec) {
		before, _ := time.Parse(time.RFC3339, string(c.when))
		c.odd.last = oddNumber{rec.Pos, rec.Spans[codex.FieldOrdinal], rec.Ordinal.Value, want, c.dead, c.gaps.highest, codex.Time(rec).Sub(before), c.turn}
	}
}

// again says whether a record can be another copy of one that came before: its number did, and it was not written later than the last one.
func (c *ordinalChecker) again(rec *session.Record) bool {
	if rec.Ordinal.Value > c.prev.Value {
		return false
	}
	later := bytes.Compare(codex.Text(rec, codex.FieldTimestamp), c.when)
	return later < 0 || later == 0 && len(rec.Raw) == c.size
}

// goesOn says whether the next record follows the last one as if only the number of that had been wrong; then nothing is missing there.
func (c *ordinalChecker) goesOn(rec *session.Record) bool {
	if c.odd.last.pos.Line == 0 { // nearly always
		return false
	}
	odd, right := c.odd.last, rec.Ordinal.Value-1
	if right == odd.value && (rec.Kind == session.TurnStart || rec.Type == "event_msg/thread_settings_applied") {
		c.wasNewest()
	}
	c.odd.last = oddNumber{}
	if c.dead > 0 || right < odd.want || right > odd.want+odd.dead {
		return false
	}
	odd.want = right
	if c.odd.found == nil {
		c.odd.found = map[session.Pos]oddNumber{}
	}
	c.odd.found[odd.pos] = odd
	if n := len(c.gaps.list); n > 0 && c.gaps.list[n-1].at == odd.pos {
		c.gaps.list = c.gaps.list[:n-1]
	}
	c.gaps.highest = max(odd.highest, odd.want)
	return true
}

// lone says whether the last record that a client wrote has a wrong number, and nothing is missing in front of it: one bit of a digit has
// flipped, but not of the last digit, where a few records may as well be lost, or more numbers are missing than a client can have
// written; it goes on with its turn, of which no other finding says that something is lost. What is written next is numbered from there.
func (c *ordinalChecker) lone(gap *numberGap) bool {
	odd, is := c.odd.newest[gap.at]
	missing := gap.to - gap.from
	if !is || odd.dead > 0 || gap.restored > 0 || gap.left < missing || (missing < 10 || !flippedDigit(odd.want, odd.value)) && missing <= 1000+odd.passed.Milliseconds() {
		return false
	}
	if c.losses == nil {
		c.losses = []session.Pos{}
		for _, f := range c.run.Findings() {
			if f.Impact >= finding.Loses && f.Rule != ruleOrdinalGap {
				c.losses = append(c.losses, f.Pos)
			}
		}
		slices.SortFunc(c.losses, session.Pos.Compare)
	}
	i := sort.Search(len(c.losses), func(i int) bool { return !c.losses[i].Less(odd.turn) })
	return i == len(c.losses) || gap.at.Less(c.losses[i])
}

// flippedDigit says whether two numbers differ in one bit of one digit, as they are written.
func flippedDigit(a, b int64) bool {
	x, y := strconv.FormatInt(a, 10), strconv.FormatInt(b, 10)
	bitsOff := 0
	for i := 0; len(x) == len(y) && i < len(x); i++ {
		bitsOff += bits.OnesCount8(x[i] ^ y[i])
	}
	return bitsOff == 1
}

// wasNewest notes that the newest record out of the sequence was the last that a client wrote.
func (c *ordinalChecker) wasNewest() {
	if odd := c.odd.last; odd.pos.Line > 0 && odd.turn != odd.pos {
		if c.odd.newest == nil {
			c.odd.newest = map[session.Pos]oddNumber{}
		}
		c.odd.newest[odd.pos] = odd
	}
}

// settleOdd says that a record's number is wrong.
func (c *ordinalChecker) settleOdd(f *finding.Finding, odd oddNumber) {
	f.Fix, f.Edits = finding.Exact, []finding.Edit{{At: odd.pos, Op: finding.Splice, Cuts: []finding.Cut{{
		Start: odd.span.Start, End: odd.span.End, New: strconv.AppendInt(nil, odd.want, 10),
	}}}}
	switch {
	case f.Rule != ruleOrdinalGap:
	case odd.value <= c.prev.Value: // another record has it, too
		f.Message += fmt.Sprintf(": this record is number %d, and no record is lost; %s", odd.want, notAllShown)
	default:
		c.harmless(f, fmt.Sprintf("this record is number %d, and no record is lost", odd.want))
	}
}

// records says how many records are missing.
func records(n int64) string {
	if n == 1 {
		return "1 record is"
	}
	return fmt.Sprintf("%d records are", n)
}

// harmless makes a gap one of numbers alone.
func (c *ordinalChecker) harmless(f *finding.Finding, why string) {
	f.Impact = finding.Notes
	if c.run.olderThan(154) {
		f.Impact = finding.Shows
		why += "; clients before 0.154 stop showing new turns"
	}
	f.Message += ": " + why
}
