package repair

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/hist-cli/hist/internal/normalize"
	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/lint"
)

// Choice says which findings a repair may mend.
type Choice struct {
	Only  []lint.Fix // these classes of fix; empty: all
	Rules []string   // these rules, their notes too; empty: all
	Tidy  bool       // notes that have a fix, too
}

// Allows says whether a finding is to be mended.
func (c Choice) Allows(f *lint.Finding) bool {
	if f.Fix == lint.NoFix || len(c.Only) > 0 && !slices.Contains(c.Only, f.Fix) {
		return false
	}
	if len(c.Rules) > 0 {
		return slices.Contains(c.Rules, f.Rule.Name)
	}
	return f.Impact != lint.Notes || c.Tidy
}

// Plan is what a repair will do to one session: the findings it mends and their edits, sorted by place.
type Plan struct {
	Mend []lint.Finding // chosen
	Rest []lint.Finding // left as they are

	choice   Choice
	edits    map[session.Pos]*edits
	leave    map[int64]bool            // lines whose framing faults are not mended
	leaveRow rows                      // the same of lines in a row
	framing  map[int64][]*lint.Finding // chosen faults of a line's framing
	mendRow  rows                      // those of lines in a row
	lines    []int64                   // lines that a finding or an edit is about, sorted
	numbered bool                      // ordinals are left as they are
	folded   bool                      // findings stand for others, about lines that are not known
	// Newline: a missing newline at the end is added.
	newline bool
	// Reproject: the client is made to build its view of the session anew.
	Reproject bool
	// Rename is the thread id that the copy's file must be named for, "" to keep the name.
	Rename string
}

// edits is what happens to one record.
type edits struct {
	before, after []insertion
	cuts          []lint.Cut
	removed       bool
	moved         bool
	renumber      bool
	by            []*lint.Finding // whose mend it is
	lost          map[int]*edits  // of records that come back behind it, by their Pos.Lost
}

type insertion struct {
	content lint.Content
	by      *lint.Finding
	order   int
	lost    int // of a record that comes back: its Pos.Lost
}

// of are the edits of a record that comes back behind this one.
func (e *edits) of(lost int) *edits {
	if e.lost == nil {
		e.lost = map[int]*edits{}
	}
	if e.lost[lost] == nil {
		e.lost[lost] = &edits{}
	}
	return e.lost[lost]
}

// behind plans an insertion behind the record. What was lost there keeps its order, with what goes in front of it and
// behind it; what closes a turn comes last where it stands.
func (e *edits) behind(edit lint.Edit, by *lint.Finding) {
	if !slices.Contains(e.by, by) {
		e.by = append(e.by, by)
	}
	order, lost := 4*edit.At.Lost, 0
	switch {
	case edit.Op == lint.Restore:
		lost = edit.At.Lost
	case edit.Op == lint.Before:
		order--
	case edit.Op == lint.After && edit.Tail:
		order += 2
	case edit.Op == lint.After:
		order++
	}
	at := len(e.after)
	for at > 0 && e.after[at-1].order > order {
		at--
	}
	e.after = slices.Insert(e.after, at, insertion{edit.New, by, order, lost})
}

// Choose makes the plan for the findings of one session. A finding whose edits want bytes that another one's edits have
// is left out of it: whether it still stands, the copy tells.
func Choose(findings []lint.Finding, choice Choice) *Plan {
	p := &Plan{choice: choice, edits: map[session.Pos]*edits{}, leave: map[int64]bool{}, framing: map[int64][]*lint.Finding{}}
	for i := range findings {
		if choice.Allows(&findings[i]) {
			p.Mend = append(p.Mend, findings[i])
		} else {
			p.Rest = append(p.Rest, findings[i])
		}
	}
	p.joinAlong()
	p.readLines()
	p.leaveLines()
	p.dropCollisions()
	p.concern(findings)
	for i := range p.Mend {
		f := &p.Mend[i]
		switch {
		case !f.Framing:
		case f.Through > 0:
			p.mendRow.add(f)
		default:
			p.framing[f.Pos.Line] = append(p.framing[f.Pos.Line], f)
		}
		if f.Rule == normalize.NoFinalNewline {
			p.newline = true
		}
		if f.Rename != "" {
			p.Rename = f.Rename
		}
		p.Reproject = p.Reproject || f.Reproject
		for _, e := range f.Edits {
			p.add(e, f)
		}
	}
	return p
}

// joinAlong has what the normalizer joins, whatever the client makes of it, joined in the copy, too, once there is one: the
// other edits are of the records that were joined.
func (p *Plan) joinAlong() {
	if len(p.Mend) == 0 {
		return
	}
	rest := p.Rest[:0:0]
	for _, f := range p.Rest {
		fault := f
		fault.Impact = f.Rule.Impact
		if f.Rule == normalize.PrettyPrinted && p.choice.Allows(&fault) {
			p.Mend = append(p.Mend, f)
		} else {
			rest = append(rest, f)
		}
	}
	p.Rest = rest
}

// dropCollisions takes findings out of the plan until no two edits want the same bytes of one record.
func (p *Plan) dropCollisions() {
	type wanted struct {
		cuts []lint.Cut
		by   []int // whose they are, by index in Mend
	}
	at := map[session.Pos]*wanted{}
	gone := map[session.Pos]bool{}
	for i := range p.Mend {
		for _, e := range p.Mend[i].Edits {
			switch e.Op {
			case lint.Remove:
				gone[e.At] = true
			case lint.Splice:
				if at[e.At] == nil {
					at[e.At] = &wanted{}
				}
				for _, c := range e.Cuts {
					at[e.At].cuts = append(at[e.At].cuts, c)
					at[e.At].by = append(at[e.At].by, i)
				}
			}
		}
	}
	dropped := map[int]bool{}
	for pos, w := range at {
		if gone[pos] || len(w.cuts) == 1 {
			continue
		}
		for _, c := range session.Colliding(w.cuts) {
			dropped[w.by[c]] = true
		}
	}
	if len(dropped) == 0 {
		return
	}
	kept := p.Mend[:0]
	for i, f := range p.Mend {
		if !dropped[i] {
			kept = append(kept, f)
		}
	}
	p.Mend = kept
}

// concern notes which lines are not just to be copied.
func (p *Plan) concern(findings []lint.Finding) {
	for i := range findings {
		f := &findings[i]
		p.folded = p.folded || f.Count > 0
		p.lines = append(p.lines, f.Pos.Line)
		for _, e := range f.Edits {
			p.lines = append(p.lines, e.At.Line)
		}
	}
	slices.Sort(p.lines)
}

// plain is the first line behind the given one that is not just to be copied, if it is known which ones are.
func (p *Plan) plain(behind int64) (until int64) {
	if p.folded {
		return behind
	}
	i := sort.Search(len(p.lines), func(i int) bool { return p.lines[i] > behind })
	if i == len(p.lines) {
		return math.MaxInt64
	}
	return p.lines[i]
}

// readLines makes a repair mend lines, too, that it would otherwise leave because their faults are only noted: those on which
// it changes something else, and, if it numbers records anew, all of them: a record that lint has read has a number.
func (p *Plan) readLines() {
	changed := map[int64]bool{}
	numbers := false
	for i := range p.Mend {
		for _, e := range p.Mend[i].Edits {
			changed[e.At.Line] = changed[e.At.Line] || changes(e)
			numbers = numbers || e.Op == lint.Renumber
		}
	}
	kept := p.Rest[:0]
	for _, f := range p.Rest {
		if (numbers || changed[f.Pos.Line]) && p.noted(f) {
			p.Mend = append(p.Mend, f)
		} else {
			kept = append(kept, f)
		}
	}
	p.Rest = kept
	sortFindings(p.Mend)
}

// noted says whether a fault of a line's framing would be mended if it were more than a note.
func (p *Plan) noted(f lint.Finding) bool {
	if !f.Framing || f.Impact != lint.Notes || f.Rule.Impact == lint.Notes {
		return false
	}
	f.Impact = f.Rule.Impact
	return p.choice.Allows(&f)
}

// changes says whether an edit changes the line itself: one that is left is one dead record.
func changes(e lint.Edit) bool {
	return e.Op == lint.Splice || e.Op == lint.Remove || e.At.Part > 0
}

func sortFindings(list []lint.Finding) {
	slices.SortStableFunc(list, func(a, b lint.Finding) int { return cmp.Compare(a.Pos.Line, b.Pos.Line) })
}

// leaveLines keeps a line whole or not at all: where one fault of its framing is not to be mended, none is, and what
// other rules would change of its records stays as it is, too. Nor is a hole closed, or numbered over, by which alone a
// loss is known that is not to be mended.
func (p *Plan) leaveLines() {
	for i := range p.Rest {
		f := &p.Rest[i]
		switch {
		case !f.Framing || f.Fix == lint.NoFix || f.Rule == normalize.NoFinalNewline:
		case f.Through > 0:
			p.leaveRow.add(f)
		case f.Count == 0:
			p.leave[f.Pos.Line] = true
		}
		if f.Hole {
			p.numbered = true
			for _, e := range f.Edits {
				p.leave[e.At.Line] = true
			}
		}
	}
	kept := p.Mend[:0]
	for _, f := range p.Mend {
		if p.touchesLeft(&f) {
			p.Rest = append(p.Rest, f)
		} else {
			kept = append(kept, f)
		}
	}
	p.Mend = kept
	sortFindings(p.Rest)
}

// touchesLeft says whether a finding's mend is one of a line that is left as it is.
func (p *Plan) touchesLeft(f *lint.Finding) bool {
	if f.Framing {
		return f.Count == 0 && f.Rule != normalize.NoFinalNewline && p.leave[f.Pos.Line]
	}
	return slices.ContainsFunc(f.Edits, func(e lint.Edit) bool {
		return p.leave[e.At.Line] && changes(e) || p.numbered && e.Op == lint.Renumber
	})
}

func (p *Plan) add(e lint.Edit, by *lint.Finding) {
	place := e.At
	place.Lost = 0
	at := p.edits[place]
	if at == nil {
		at = &edits{}
		p.edits[place] = at
	}
	if e.At.Lost > 0 {
		switch e.Op {
		case lint.Splice:
			at.of(e.At.Lost).cuts = append(at.of(e.At.Lost).cuts, e.Cuts...)
		case lint.Remove:
			at.of(e.At.Lost).removed = true
		case lint.Renumber:
			at.renumber = true
		default:
			at.behind(e, by)
		}
		return
	}
	if n := len(at.by); n == 0 || at.by[n-1] != by { // a finding's edits come together
		at.by = append(at.by, by)
	}
	switch e.Op {
	case lint.Splice:
		at.cuts = append(at.cuts, e.Cuts...)
	case lint.Remove:
		at.moved = e.Moved && (at.moved || !at.removed)
		at.removed = true
	case lint.Before:
		if e.Lead {
			at.before = append([]insertion{{content: e.New, by: by}}, at.before...)
			break
		}
		at.before = append(at.before, insertion{content: e.New, by: by})
	case lint.After:
		at.behind(e, by)
	case lint.Renumber:
		at.renumber = true
	}
}

// mends says whether a finding of the named rule is in the plan.
func (p *Plan) mends(rule string) bool {
	return slices.ContainsFunc(p.Mend, func(f lint.Finding) bool { return f.Rule.Name == rule })
}

// Empty says that the file stays as it is.
func (p *Plan) Empty() bool {
	return !slices.ContainsFunc(p.Mend, func(f lint.Finding) bool { return !f.Reproject })
}

// mend is the normalizer's view of the plan: what may be mended of a line's framing.
func (p *Plan) mend(f *lint.Finding) bool {
	if p.leave[f.Pos.Line] {
		return false
	}
	if p.leaveRow.of(f.Rule, f.Pos.Line) != nil {
		return false
	}
	if f.Rule.Tidy { // folded into one finding, so asked for as a whole
		return p.choice.Allows(f)
	}
	return p.choice.Allows(f) || p.chosen(f)
}

// chosen says whether a finding of this rule on this line is in the plan; its impact may have been judged by more
// than the line alone.
func (p *Plan) chosen(f *lint.Finding) bool {
	return slices.ContainsFunc(p.faults(f.Pos.Line), func(have *lint.Finding) bool { return have.Rule == f.Rule })
}

// faults are the chosen faults of a line's framing.
func (p *Plan) faults(line int64) []*lint.Finding {
	list := p.framing[line]
	for i := range p.mendRow {
		if f := p.mendRow.of(p.mendRow[i].rule, line); f != nil {
			list = append(slices.Clip(list), f)
		}
	}
	return list
}

// rows are findings that each stand for lines in a row, by rule and then by place. Few rules have them.
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
