package check

import (
	"fmt"

	"github.com/hist-cli/hist/internal/finding"
)

// A session may have a finding on each of millions of lines, so what is kept of them is bounded. Of unreadable lines in a
// row, the first have findings of their own and one finding counts the rest. Beyond maxFindings in all, one finding for each
// rule counts all others; a repair mends the first ones and then lints again. What it mends and what it leaves are counted apart,
// and no rule has more than MaxOfRule of either, so that many notes never keep it from mending: some become notes only at the end.
const (
	singlyInRow = 16
	maxFindings = 1 << 15
	// MaxOfRule is how many findings of one rule are kept one by one. For those beyond, a checker need not write what mends them.
	MaxOfRule = maxFindings / 2
)

// row is a row of unreadable lines, each found by a rule that has Rows.
type row struct {
	last   int64                 // its newest line
	single map[*finding.Rule]int // how many findings of their own its lines have
	rest   map[*finding.Rule]int // the index in findings of the one that counts the rest
}

// inRow returns true if a finding only says of one more line in a row what others have said: then it has been counted.
func (r *Run) inRow(f *finding.Finding) bool {
	if !f.Rule.Rows || !f.Framing || f.Fix != finding.SetAside && f.Impact != finding.Notes {
		return false
	}
	if f.Pos.Line > r.row.last+1 || r.row.single == nil {
		r.row = row{single: map[*finding.Rule]int{}, rest: map[*finding.Rule]int{}}
	}
	r.row.last = f.Pos.Line
	if r.row.single[f.Rule]++; r.row.single[f.Rule] <= singlyInRow {
		return false
	}
	if at, ok := r.row.rest[f.Rule]; ok {
		first := &r.findings[at]
		first.Count++
		first.Through = f.Pos.Line
		return true
	}
	if r.all[r.alike(f).mended] < maxFindings {
		r.row.rest[f.Rule] = len(r.findings)
		f.Count, f.Through = 1, f.Pos.Line
	}
	return false
}

// tooMany returns true if there are so many findings that this one is only counted.
func (r *Run) tooMany(f *finding.Finding) bool {
	kind := r.alike(f)
	if r.all[kind.mended] < maxFindings && r.listed[kind] < MaxOfRule {
		r.count(kind)
		return false
	}
	if at, ok := r.more[kind]; ok {
		first := &r.findings[at]
		first.Count++
		first.Lost += f.Lost
		first.Unseen += f.Unseen
		first.Impact = max(first.Impact, f.Impact)
		return true
	}
	r.more[kind] = len(r.findings)
	f.Edits, f.Count, f.More = nil, 1, true
	f.Message += fmt.Sprintf("; the file has more than %d findings of its rule, or %d in all, so this one counts all that remain of its rule", MaxOfRule, maxFindings)
	if kind.mended {
		f.Message += "; they are listed once the ones before them are repaired"
	}
	return false
}

// alike are the findings of one rule that a repair treats alike: it mends them, or it leaves them.
type alike struct {
	rule   *finding.Rule
	mended bool
}

// alike is the kind of a finding, as far as that is known while the session is read.
func (r *Run) alike(f *finding.Finding) alike {
	if r.opts.Mend != nil {
		return alike{f.Rule, r.opts.Mend(f)}
	}
	return alike{f.Rule, f.Fix != finding.NoFix && f.Impact != finding.Notes}
}

func (r *Run) count(kind alike) {
	r.listed[kind]++
	r.all[kind.mended]++
}
