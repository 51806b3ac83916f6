package repair

import (
	"bytes"

	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/internal/source"
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

	has   map[*lint.Finding]bool  // the findings in By
	lines map[*lint.Finding]int64 // the session's lines of findings that were made in the text of an earlier pass
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

// differ notes the offset in the session at which the copy begins to differ; only the first call counts.
func (r *rewrite) differ(offset int64) {
	if !r.differs {
		r.differs, r.from = true, offset
		r.tell(offset)
	}
}

// tell calls Differs. same is how many first bytes copy and session have in common.
func (r *rewrite) tell(same int64) {
	switch {
	case r.Differs == nil:
	case r.tee == nil || r.out.bytes != same:
		r.Differs(source.NewSum(), 0)
	default:
		r.Differs(r.tee.Sum.Fork(), same)
	}
}

// moved is the byte offset in the session from which on the copy differs: the session's end if the copy only goes on there.
func (r *rewrite) moved() int64 {
	if r.differs {
		return r.from
	}
	return r.out.bytes
}

// change is the change that a record belongs to: the one in hand, or a new one if there is none.
func (r *rewrite) change(rec *session.Record, by []*lint.Finding) *change {
	if r.pending == nil {
		r.pending = &change{Line: rec.Pos.Line, Offset: rec.Offset, AfterLine: r.out.lines + 1, AfterAt: r.out.bytes}
	}
	for _, f := range by {
		r.pending.add(f)
	}
	for _, f := range r.Plan.faults(rec.Pos.Line) {
		r.pending.add(f)
	}
	return r.pending
}

func (c *change) add(f *lint.Finding) {
	if c.has == nil {
		c.has = map[*lint.Finding]bool{}
	}
	if !c.has[f] {
		c.has[f] = true
		c.By = append(c.By, f)
	}
}

// found notes the session's line of a finding of By, if it has one. The finding itself may name a line of the text of an
// earlier pass instead.
func (c *change) found(f *lint.Finding, line int64) {
	if c.lines == nil {
		c.lines = map[*lint.Finding]int64{}
	}
	if f.Pos.Line > 0 {
		c.lines[f] = line
	}
}

// foundLine is the session's line of a finding, 0 if it has none.
func (c *change) foundLine(f *lint.Finding) int64 {
	if line, ok := c.lines[f]; ok {
		return line
	}
	return f.Pos.Line
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

// span is a range of lines of the copy.
type span struct{ count, first, last int64 }

func (s *span) add(line int64) {
	if s.count == 0 {
		s.first = line
	}
	s.count++
	s.last = line
}

// flush ends the change in hand.
func (r *rewrite) flush() {
	if r.pending != nil {
		r.Changes = append(r.Changes, *r.pending)
		r.pending = nil
	}
}

// renumbered is how many lines of the copy refer to others differently than in the session, mostly by their ordinals, and the
// first and the last of them.
func (r *rewrite) renumbered() (count, first, last int64) {
	if r.links == nil { // it was not written in one pass, or not at all
		return r.tied.count, r.tied.first, r.tied.last
	}
	return r.links.Changed()
}
