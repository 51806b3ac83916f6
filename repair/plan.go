package repair

import (
	"maps"
	"slices"

	"github.com/hist-cli/hist/internal/normalize"
	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/lint"
)

// Choice says which findings a repair may mend.
type Choice struct {
	Only  []lint.Fix // only these kinds of fix; empty: all
	Rules []string   // only these rules, including their notes; empty: all
	Tidy  bool       // also notes that have a fix

	except []string // rules that are left out, because mending them would lose something
}

// nothing is the choice that allows no finding.
var nothing = Choice{Rules: []string{""}}

// Allows says whether a finding is to be mended.
func (c Choice) Allows(f *lint.Finding) bool {
	if f.Fix == lint.NoFix || slices.Contains(c.except, f.Rule.Name) || len(c.Only) > 0 && !slices.Contains(c.Only, f.Fix) {
		return false
	}
	if len(c.Rules) > 0 {
		return slices.Contains(c.Rules, f.Rule.Name)
	}
	return f.Impact != lint.Notes || c.Tidy && !f.Rule.ByName
}

// plan is what a repair will do to one session: the findings it mends and their edits, sorted by place.
type plan struct {
	Mend []*lint.Finding // findings to be mended; they are the plan's own, and of several passes the last plan has those of all
	Rest []*lint.Finding // findings to be left

	choice   Choice
	edits    map[session.Pos]*edits
	leave    map[int64]bool            // lines whose framing is left as it is
	leaveRow rows                      // the same for lines in a row that one finding stands for
	framing  map[int64][]*lint.Finding // by line, the faults of its framing that are to be mended
	mendRow  rows                      // the same for lines in a row that one finding stands for
	touched  []int64                   // lines that a finding or an edit is about, sorted
	numbered bool                      // ordinals are left as they are
	folded   bool                      // some findings stand for others whose lines are not known
	newline  bool                      // add the missing newline at the end
	copies   bool                      // a copy is made even if nothing in it changes
	// Reproject makes the client build its view of the session anew.
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
	numbered      bool // removed, and its ordinal goes with it
	renumber      bool
	by            []*lint.Finding  // the findings that these edits mend
	lost          map[int32]*edits // edits of lost records that are restored behind it, by their Pos.Lost
}

type insertion struct {
	content lint.Content
	by      *lint.Finding
	behind  bool  // behind the record, not in front of it
	order   int   // its order among the insertions behind one record
	lost    int32 // the Pos.Lost if a lost record is restored, else 0
}

// of are the edits of a lost record that is restored behind this one.
func (e *edits) of(lost int32) *edits {
	if e.lost == nil {
		e.lost = map[int32]*edits{}
	}
	if e.lost[lost] == nil {
		e.lost[lost] = &edits{}
	}
	return e.lost[lost]
}

// behind plans an insertion behind the record. Lost records that are restored there keep their order, each with what goes in
// front of it and behind it. What closes a turn comes last at its place.
func (e *edits) behind(edit lint.Edit, by *lint.Finding) {
	if !slices.Contains(e.by, by) {
		e.by = append(e.by, by)
	}
	order, lost := 4*int(edit.At.Lost), int32(0)
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
	e.after = slices.Insert(e.after, at, insertion{content: edit.New, by: by, behind: true, order: order, lost: lost})
}

// choose makes the plan for the findings of one session. If some must be mended before all others, it is a plan for those alone: the
// others are looked for again in the copy. A finding whose edits need bytes that another finding's edits change is left out, too:
// linting the copy shows whether it is still there.
func choose(findings []lint.Finding, choice Choice) *plan {
	if slices.ContainsFunc(findings, func(f lint.Finding) bool { return f.First && choice.Allows(&f) }) {
		waits := func(f lint.Finding) bool { return !f.First && (f.Framing || len(f.Edits) > 0) }
		now := slices.DeleteFunc(slices.Clone(findings), waits)
		later := slices.DeleteFunc(slices.Clone(findings), func(f lint.Finding) bool { return !waits(f) })
		if p := planFor(now, later, choice); slices.ContainsFunc(p.Mend, func(f *lint.Finding) bool { return f.First }) {
			return p
		}
	}
	return planFor(findings, nil, choice)
}

// planFor makes the plan for some findings. The lines of those that are to be mended later stay as they are.
func planFor(findings, later []lint.Finding, choice Choice) *plan {
	p := &plan{choice: choice, edits: map[session.Pos]*edits{}, leave: map[int64]bool{}, framing: map[int64][]*lint.Finding{}}
	for i := range later {
		p.leaveFraming(&later[i])
	}
	own := slices.Clone(findings)
	for i := range own {
		if f := &own[i]; choice.Allows(f) {
			p.Mend = append(p.Mend, f)
		} else {
			p.Rest = append(p.Rest, f)
		}
	}
	p.joinPrettyPrinted()
	p.mendNotedLines()
	p.leaveLines()
	p.dropCollisions()
	p.noteTouched(findings)
	for _, f := range p.Mend {
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

// dropCollisions removes findings from the plan until no two edits change the same bytes of one record.
func (p *plan) dropCollisions() {
	dropped := map[int]bool{}
	for _, w := range p.wantedCuts() {
		if len(w.cuts) == 1 {
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

// wantedCuts are the cuts that the plan's findings would make in one record, and whose they are, by index in Mend.
type wantedCuts struct {
	cuts []lint.Cut
	by   []int
}

// wantedCuts collects them by record. A record that is removed as a whole has none.
func (p *plan) wantedCuts() map[session.Pos]*wantedCuts {
	at := map[session.Pos]*wantedCuts{}
	removed := map[session.Pos]bool{}
	for i := range p.Mend {
		for _, e := range p.Mend[i].Edits {
			switch e.Op {
			case lint.Remove:
				removed[e.At] = true
			case lint.Splice:
				w := at[e.At]
				if w == nil {
					w = &wantedCuts{}
					at[e.At] = w
				}
				for _, c := range e.Cuts {
					w.cuts, w.by = append(w.cuts, c), append(w.by, i)
				}
			}
		}
	}
	maps.DeleteFunc(at, func(pos session.Pos, _ *wantedCuts) bool { return removed[pos] })
	return at
}

func (p *plan) add(e lint.Edit, by *lint.Finding) {
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
	if n := len(at.by); n == 0 || at.by[n-1] != by { // the edits of one finding are adjacent
		at.by = append(at.by, by)
	}
	switch e.Op {
	case lint.Splice:
		at.cuts = append(at.cuts, e.Cuts...)
	case lint.Remove:
		at.moved = e.Moved && (at.moved || !at.removed)
		at.numbered = e.New.Numbered
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

// dropRenames removes the findings from the plan that only another file name would mend.
func (p *plan) dropRenames() {
	p.drop(func(f *lint.Finding) bool { return f.Rename != "" })
	p.Rename = ""
}

// keepView makes the plan leave the client's view of the session alone, if it does not restore records that only the view may
// still have: a later repair then still finds them there.
func (p *plan) keepView() {
	restores := func(e lint.Edit) bool { return e.Op == lint.Restore }
	if slices.ContainsFunc(p.Rest, func(f *lint.Finding) bool { return slices.ContainsFunc(f.Edits, restores) }) {
		p.drop(func(f *lint.Finding) bool { return f.Reproject })
		p.Reproject = false
	}
}

// drop removes findings without edits from the plan.
func (p *plan) drop(out func(*lint.Finding) bool) {
	kept := p.Mend[:0:0]
	for _, f := range p.Mend {
		if out(f) {
			p.Rest = append(p.Rest, f)
			continue
		}
		kept = append(kept, f)
	}
	p.Mend = kept
}

// mends says whether a finding of the named rule is in the plan.
func (p *plan) mends(rule string) bool {
	return slices.ContainsFunc(p.Mend, func(f *lint.Finding) bool { return f.Rule.Name == rule })
}

// Empty says that the file stays as it is.
func (p *plan) Empty() bool {
	return !p.copies && !slices.ContainsFunc(p.Mend, func(f *lint.Finding) bool { return !f.Reproject })
}
