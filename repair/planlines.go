package repair

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/hist-cli/hist/internal/normalize"
	"github.com/hist-cli/hist/lint"
)

// This file settles which lines a plan is about: whose framing is mended, and which are only copied.

// joinPrettyPrinted plans to join, in any copy, the lines that the normalizer has joined, even if the client can read them as
// they are: all other edits are about the joined records.
func (p *plan) joinPrettyPrinted() {
	if len(p.Mend) == 0 {
		return
	}
	rest := p.Rest[:0]
	for _, f := range p.Rest {
		fault := *f
		fault.Impact = f.Rule.Impact
		if f.Rule == normalize.PrettyPrinted && p.choice.Allows(&fault) {
			p.Mend = append(p.Mend, f)
		} else {
			rest = append(rest, f)
		}
	}
	p.Rest = rest
}

// noteTouched notes which lines must not simply be copied.
func (p *plan) noteTouched(findings []lint.Finding) {
	for i := range findings {
		f := &findings[i]
		p.folded = p.folded || f.Count > 0
		p.touched = append(p.touched, f.Pos.Line)
		for _, e := range f.Edits {
			p.touched = append(p.touched, e.At.Line)
		}
	}
	slices.Sort(p.touched)
}

// nextTouched is the first line behind the given one that must not simply be copied. If that is not known for all lines, it
// is the given line itself.
func (p *plan) nextTouched(behind int64) (until int64) {
	if p.folded {
		return behind
	}
	i := sort.Search(len(p.touched), func(i int) bool { return p.touched[i] > behind })
	if i == len(p.touched) {
		return math.MaxInt64
	}
	return p.touched[i]
}

// mendNotedLines plans to mend faults of lines that are only notes, if the lines can't be left: those in which the plan changes
// or mends something else and, if it renumbers records, all of them, because every record that lint can read gets a number.
func (p *plan) mendNotedLines() {
	changed := map[int64]bool{}
	numbers := false
	for _, f := range p.Mend {
		if f.Framing && f.Count == 0 && f.Rule != normalize.NoFinalNewline {
			changed[f.Pos.Line] = true
		}
		for _, e := range f.Edits {
			changed[e.At.Line] = changed[e.At.Line] || changes(e)
			numbers = numbers || e.Op == lint.Renumber
		}
	}
	kept := p.Rest[:0]
	for _, f := range p.Rest {
		if (numbers || changed[f.Pos.Line]) && p.mendedIfWorse(*f) {
			p.Mend = append(p.Mend, f)
		} else {
			kept = append(kept, f)
		}
	}
	p.Rest = kept
	sortFindings(p.Mend)
}

// mendedIfWorse says whether the choice would allow mending a fault if it were more than a note.
func (p *plan) mendedIfWorse(f lint.Finding) bool {
	if !f.Framing || f.Impact != lint.Notes || f.Rule.Impact == lint.Notes {
		return false
	}
	f.Impact = f.Rule.Impact
	return p.choice.Allows(&f)
}

// changes says whether an edit changes the line itself. If the line is left as it is, that is impossible: the line is then one
// unreadable record.
func changes(e lint.Edit) bool {
	return e.Op == lint.Splice && !e.Line || e.Op == lint.Remove || e.At.Part > 0
}

func sortFindings(list []*lint.Finding) {
	slices.SortStableFunc(list, func(a, b *lint.Finding) int { return cmp.Compare(a.Pos.Line, b.Pos.Line) })
}

// leaveLines makes the plan mend a line as a whole or not at all: if one fault of its framing is not to be mended, none is,
// and other rules don't change its records either. And if a hole is the only sign of a loss that is not to be mended, the
// hole is neither closed nor numbered over.
func (p *plan) leaveLines() {
	beside := map[int64]bool{} // lines at holes; their records stay as they are
	for _, f := range p.Rest {
		p.leaveFraming(f)
		if f.Hole {
			p.numbered = true
			for _, e := range f.Edits {
				beside[e.At.Line] = true
				if e.Op != lint.After || e.At.Lost > 0 { // otherwise the hole is a jump in the ordinals, which no framing closes
					p.leave[e.At.Line] = true
				}
			}
		}
	}
	kept := p.Mend[:0]
	for _, f := range p.Mend {
		f.Edits = p.ofLeft(f.Edits)
		if p.touchesLeft(f, beside) {
			p.Rest = append(p.Rest, f)
		} else {
			kept = append(kept, f)
		}
	}
	p.Mend = kept
	sortFindings(p.Rest)
}

// leaveFraming keeps a line as it is if a fault of its framing is not to be mended.
func (p *plan) leaveFraming(f *lint.Finding) {
	switch {
	case !f.Framing || f.Fix == lint.NoFix || f.Rule == normalize.NoFinalNewline:
	case f.Through > 0:
		p.leaveRow.add(f)
	case f.Count == 0:
		p.leave[f.Pos.Line] = true
	}
}

// leaves says whether a line is left because of another fault: a finding about that line, or a finding about a row of lines. A
// line that is set aside may be in such a row itself.
func (p *plan) leaves(f *lint.Finding) bool {
	return p.leave[f.Pos.Line] || f.Fix != lint.SetAside && p.leaveRow.cover(f.Pos.Line)
}

// isLeft says whether a line is left as it is.
func (p *plan) isLeft(line int64) bool { return p.leave[line] || p.leaveRow.cover(line) }

// ofLeft are the edits without those of damaged lines as they are, where these lines are mended, as long as any is left.
func (p *plan) ofLeft(edits []lint.Edit) []lint.Edit {
	mended := func(e lint.Edit) bool { return e.Line && !p.isLeft(e.At.Line) }
	if !slices.ContainsFunc(edits, mended) {
		return edits
	}
	if rest := slices.DeleteFunc(slices.Clone(edits), mended); len(rest) > 0 {
		return rest
	}
	return edits
}

// touchesLeft says whether mending a finding would change a line that is left as it is.
func (p *plan) touchesLeft(f *lint.Finding, beside map[int64]bool) bool {
	if f.Framing {
		return f.Count == 0 && f.Rule != normalize.NoFinalNewline && p.leaves(f)
	}
	return slices.ContainsFunc(f.Edits, func(e lint.Edit) bool {
		return e.Line && !p.isLeft(e.At.Line) || (p.leave[e.At.Line] || beside[e.At.Line]) && changes(e) || p.numbered && e.Op == lint.Renumber
	})
}

// mend says, for the normalizer, whether a fault of a line's framing may be mended.
func (p *plan) mend(f *lint.Finding) bool {
	if f.Rule != normalize.PrettyPrinted && p.leaves(f) { // what is wrong in a record does not keep it laid out
		return false
	}
	if p.leaveRow.of(f.Rule, f.Pos.Line) != nil {
		return false
	}
	if f.Rule.Tidy { // one finding stands for all faults of its rule, so they are chosen together
		return p.choice.Allows(f)
	}
	return p.choice.Allows(f) || p.chosen(f)
}

// chosen says whether a finding of this rule on this line is in the plan: its impact may have been judged by more than the
// line alone.
func (p *plan) chosen(f *lint.Finding) bool {
	return slices.ContainsFunc(p.faults(f.Pos.Line), func(have *lint.Finding) bool { return have.Rule == f.Rule })
}

// faults are the chosen faults of a line's framing.
func (p *plan) faults(line int64) []*lint.Finding {
	list := p.framing[line]
	for i := range p.mendRow {
		if f := p.mendRow.of(p.mendRow[i].rule, line); f != nil {
			list = append(slices.Clip(list), f)
		}
	}
	return list
}

// rows are findings that each stand for a row of lines, by rule and then by place. Few rules have them.
type rows []ruleRows

type ruleRows struct {
	rule *lint.Rule
	list []*lint.Finding
}

func (r *rows) add(f *lint.Finding) {
	i := slices.IndexFunc(*r, func(have ruleRows) bool { return have.rule == f.Rule })
	if i < 0 {
		i = len(*r)
		*r = append(*r, ruleRows{rule: f.Rule})
	}
	(*r)[i].list = append((*r)[i].list, f)
}

// cover says whether a line is in one of the rows.
func (r rows) cover(line int64) bool {
	return slices.ContainsFunc(r, func(one ruleRows) bool { return r.of(one.rule, line) != nil })
}

// of is the finding by a rule that stands for a line, nil if there is none.
func (r rows) of(rule *lint.Rule, line int64) *lint.Finding {
	for _, one := range r {
		if one.rule != rule {
			continue
		}
		i := sort.Search(len(one.list), func(i int) bool { return one.list[i].Pos.Line > line }) - 1
		if i >= 0 && one.list[i].Covers(line) {
			return one.list[i]
		}
	}
	return nil
}
