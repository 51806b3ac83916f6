package rules

import (
	"fmt"
	"sort"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/finding"
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
	restored bool        // something was found elsewhere that belongs there
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

// gap takes a record in front of which ordinals are missing, from want on.
func (c *ordinalChecker) gap(rec *session.Record, want int64) {
	value := rec.Ordinal.Value
	if from := max(want, c.gaps.highest+1); from < value && !c.inFront && len(c.gaps.list) < maxNumberGaps {
		c.gaps.list = append(c.gaps.list, numberGap{from: from, to: value, left: value - from - c.dead, behind: c.run.Last(), at: rec.Pos, stamp: codex.Stamp(rec), restored: c.restored})
	}
	c.sequence(ruleOrdinalGap, rec, fmt.Sprintf("ordinal %d after %d", value, c.prev.Value))
}

// Lost takes a record that is restored from elsewhere.
func (c *ordinalChecker) Lost(*session.Record) { c.restored = true }

// Settle says what a gap in the ordinals means, now that it is known what else stands in the file, and what was found of what is
// missing there. If nothing was, the model is told once.
func (c *ordinalChecker) Settle(f *finding.Finding) {
	if f.Rule != ruleOrdinalGap {
		return
	}
	gap := c.gaps.before(f.Pos)
	switch {
	case gap == nil || gap.left <= 0:
		c.harmless(f, "no record is lost, what has the numbers between them stands elsewhere")
	case !c.run.history.Base().Less(f.Pos):
		c.harmless(f, fmt.Sprintf("%s lost here, in front of a compaction: they are not sent any more", records(gap.left)))
	case gap.restored || c.run.holes.Filled(gap.behind):
		f.Impact = finding.Loses
		f.Message += fmt.Sprintf(": %s lost here; what was found of them is put back", records(gap.left))
	default:
		f.Impact, f.Lost = finding.Loses, 1
		f.Message += fmt.Sprintf(": %s lost behind line %d, and with them what they told the model", records(gap.left), gap.behind.Line)
		if f.Edits != nil {
			f.Fix = finding.StandIn
			f.Edits = append(f.Edits, finding.Edit{At: gap.behind, Op: finding.After, New: finding.Content{Literal: codex.LostHere(gap.stamp, gap.left)}})
		}
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
	if c.run.olderThan(0, 154) {
		f.Impact = finding.Shows
		why += "; clients before 0.154 stop showing new turns"
	}
	f.Message += ": " + why
}
