package repair

import (
	"bytes"

	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/lint"
)

// change is one place where the copy differs from the session.
type change struct {
	By        []*lint.Finding
	Line      int64 // of the first line concerned, in the session
	Offset    int64
	AfterLine int64 // in the copy
	AfterAt   int64
	Before    excerpts // lines as they were; none where something was added
	After     excerpts

	lines map[*lint.Finding]int64 // the session's line of each finding in By, 0 if it has none
}

// Excerpt is a line, or as much of its head as a report shows.
type Excerpt struct {
	Text []byte
	Size int // bytes of the whole line
}

// excerpts are the lines of one side of a change.
type excerpts struct {
	Shown []Excerpt
	More  int64 // how many further lines are not in Shown
}

// count is the number of lines, shown or not.
func (e *excerpts) count() int64 { return int64(len(e.Shown)) + e.More }

// keptBytes is how much of a changed line a report keeps.
const keptBytes = 16 << 10

func excerpt(line []byte) Excerpt {
	return Excerpt{Text: bytes.Clone(line[:min(len(line), keptBytes)]), Size: len(line)}
}

// change is the change that a record belongs to: the one in hand, or a new one if there is none.
func (r *rewrite) change(rec *session.Record, by []*lint.Finding) *change {
	if r.pending == nil {
		r.pending = &change{Line: rec.Pos.Line, Offset: rec.Offset, AfterLine: r.lines + 1, AfterAt: r.bytes}
	}
	for _, f := range by {
		r.pending.add(f)
	}
	for _, f := range r.Plan.faults(rec.Pos.Line) {
		r.pending.add(f)
	}
	return r.pending
}

// add says that the change mends a finding, too.
func (c *change) add(f *lint.Finding) {
	if c.lines == nil {
		c.lines = map[*lint.Finding]int64{}
	}
	if _, ok := c.lines[f]; !ok {
		c.lines[f] = f.Pos.Line
		c.By = append(c.By, f)
	}
}

// found notes the session's line of a finding of By that names a line of the text of an earlier pass.
func (c *change) found(f *lint.Finding, line int64) {
	if f.Pos.Line > 0 {
		c.lines[f] = line
	}
}

// maxShown is how many lines of one change are kept for the report, on each side.
const maxShown = 1 << 10

// show keeps as much of a line, or of the lines of one record, as a report shows. Beyond maxShown lines it only counts them.
func (e *excerpts) show(lines []byte) {
	for line := range bytes.SplitSeq(lines, newline) {
		if len(e.Shown) < maxShown {
			e.Shown = append(e.Shown, excerpt(line))
		} else {
			e.More++
		}
	}
}

// flush ends the change in hand.
func (r *rewrite) flush() {
	if r.pending != nil {
		r.Changes = append(r.Changes, *r.pending)
		r.pending = nil
	}
}
