package check

import (
	"fmt"

	"github.com/hist-cli/hist/internal/finding"
)

// A session may have a finding on each of millions of lines. What is kept of them is bounded: of dead lines in a row the
// first are told singly and the rest by one finding; and behind maxFindings of any kind one a rule counts all others. A
// repair mends the first and looks again.
const (
	toldInRow   = 16
	maxFindings = 1 << 16
)

// row is lines in a row that are dead, each by a rule that has Rows.
type row struct {
	last int64 // its newest line
	told map[*finding.Rule]int
	rest map[*finding.Rule]int // where in findings the one stands that counts the rest
}

// inRow counts a finding that says of one more line in a row what others have said, and returns true if that is enough.
func (r *Run) inRow(f *finding.Finding) bool {
	if !f.Rule.Rows || !f.Framing || f.Fix != finding.SetAside && f.Impact != finding.Notes {
		return false
	}
	if f.Pos.Line > r.row.last+1 || r.row.told == nil {
		r.row = row{told: map[*finding.Rule]int{}, rest: map[*finding.Rule]int{}}
	}
	r.row.last = f.Pos.Line
	if r.row.told[f.Rule]++; r.row.told[f.Rule] <= toldInRow {
		return false
	}
	if at, ok := r.row.rest[f.Rule]; ok {
		first := &r.findings[at]
		first.Count++
		first.Through = f.Pos.Line
		return true
	}
	if len(r.findings) < maxFindings {
		r.row.rest[f.Rule] = len(r.findings)
		f.Count, f.Through = 1, f.Pos.Line
	}
	return false
}

// tooMany counts a finding behind the last that is told singly.
func (r *Run) tooMany(f *finding.Finding) bool {
	if len(r.findings) < maxFindings {
		return false
	}
	if at, ok := r.more[f.Rule]; ok {
		first := &r.findings[at]
		first.Count++
		first.Lost += f.Lost
		first.Unseen += f.Unseen
		first.Impact = max(first.Impact, f.Impact)
		return true
	}
	r.more[f.Rule] = len(r.findings)
	f.Edits, f.Count, f.More = nil, 1, true
	f.Message += fmt.Sprintf("; the file has more than %d findings, so this one counts all that remain of its rule; they are listed once the ones before them are repaired", maxFindings)
	return false
}
