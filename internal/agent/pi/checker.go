package pi

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/normalize"
	"github.com/hist-cli/hist/internal/session"
)

// checker keeps the facts of a session, and judges them at its end.
type checker struct {
	run    *check.Run
	traits traits
	*view
	file     []fact           // as they stand in the file; nil as long as nothing is changed
	kids     map[string][]int // see children
	dead     []remains
	old      bool             // of version 1: records have no ids, and each hangs on the one before it
	voice    string           // the members of an answer that say who gave it
	is       *reading         // as the client reads the file
	now      *reading         // as it would with the changes that were chosen so far
	lost     map[string]int   // by an id that no record has: the first record that names it as its parent
	noRecord bool             // the file holds none
	twins    map[string][]int // by the id of records, those that have it
	circle   map[int]bool     // records from which the parents led back to themselves
	broken   map[int]bool     // records whose chain was broken, and was mended
	beside   *beside
	owners   map[int]*found // by record: the finding that has changed it last
	all      []*found
}

// found is a finding, and what would mend it.
type found struct {
	finding.Finding
	at      int // the record that it is about
	changes []change
	chosen  bool
}

// newCheckers makes the one checker that sees the whole chain.
func newCheckers(run *check.Run) []check.Checker {
	c := &checker{run: run, traits: traitsOf(run.Options().For[name]), view: newView(nil), lost: map[string]int{}, broken: map[int]bool{}, owners: map[int]*found{}}
	c.beside = newBeside(run.Options())
	if h, ok := run.History().(*check.TreeHistory); ok {
		h.Of = c
	}
	return []check.Checker{c}
}

// Record takes the next record.
func (c *checker) Record(rec *session.Record) {
	if rec.Kind == session.Unreadable {
		if !rec.Blank {
			c.dead = append(c.dead, remainsOf(rec, len(c.facts)))
		}
		return
	}
	f, ready := rec.Prepared.(*fact)
	if !ready {
		f = factOf(rec)
	}
	f.ref.Set(rec)
	if rec.Mended || rec.Pos.Part > 0 {
		f.was = c.asWritten(rec.Original)
		if f.unread = f.was == nil; !f.unread && f.was.like(f) {
			f.was = nil
		}
	}
	if f.header() && c.headerAt() < 0 {
		c.run.SetHeader(about(rec.Raw).Info, rec.Pos)
	}
	c.facts = append(c.facts, *f)
	if c.voice == "" && f.role == "assistant" {
		for _, key := range []string{"api", "provider", "model"} {
			if v := gjson.GetBytes(rec.Raw, "message."+key); v.Exists() {
				c.voice += `"` + key + `":` + v.Raw + `,`
			}
		}
	}
}

// asWritten is what the client reads of a line as it stands; nil if it reads no record of it.
func (c *checker) asWritten(line []byte) *fact {
	if c.traits.ReadsBOM {
		line = bytes.TrimPrefix(line, []byte("\ufeff"))
	}
	if bytes.IndexByte(line, '\n') >= 0 { // a record on several lines, of which it reads each by itself
		return nil
	}
	return factOfLine(line)
}

// stages are what is looked for behind the header, each in what is left once what was found before is mended.
var stages = []func(*checker) []*found{
	(*checker).foreign, (*checker).ids, (*checker).copies, (*checker).links, (*checker).strayed, (*checker).end, (*checker).unsummed, (*checker).kept, (*checker).content, (*checker).pairs, (*checker).unanswered,
}

// End judges the session.
func (c *checker) End() {
	if c.view = newView(c.facts); c.own == 0 {
		c.empty()
		return
	}
	c.number()
	c.era()
	c.strangers()
	c.is = c.asIs()
	c.now = c.read(c.traits)
	if !c.run.Options().Live {
		c.choose(c.header())
		if c.old { // nothing but their order ties its records together
			c.choose(c.content())
		} else {
			for _, look := range stages {
				c.choose(look(c))
			}
		}
	}
	c.neighbours()
	c.refusals()
	for _, f := range c.all {
		f.Edits = c.edits(f)
		c.run.Report(f.Finding)
	}
}

// refusals are the errors on the way to the end, behind the last answer.
func (c *checker) refusals() {
	for _, i := range c.now.chain {
		switch f := &c.facts[i]; {
		case f.said != "":
			c.run.Refused([]byte(f.said), f.ref, false)
		case f.answer(), f.kind == "compaction":
			c.run.Answered()
		}
	}
}

// era takes the traits of older clients into account where nobody names the one that will resume the session, and one has written it that does
// not write system messages, as they do not before 0.87.0.
func (c *checker) era() {
	role := func(role string) bool {
		return slices.ContainsFunc(c.facts, func(f fact) bool { return f.role == role })
	}
	if c.run.Options().For[name] == "" && role("assistant") && !role("system") {
		c.traits = traits{NullContentFails: true, UsageNeeded: true, NullRefused: true, Glues: true}
	}
}

// empty reports a file without a record.
func (c *checker) empty() {
	if c.run.Options().Fresh {
		return
	}
	c.noRecord = true
	c.run.Report(finding.Finding{
		Rule: normalize.EmptyFile, Impact: finding.Blocks, Pos: session.Pos{Line: 1}, Message: "the file holds no record: the client finds no session in it; look for a backup or a fork",
	})
}

// Explains says whether a finding is about a line of a file without a record: to mend it would leave none.
func (c *checker) Explains(f *finding.Finding) bool {
	return c.noRecord && f.Framing && f.Impact > finding.Notes
}

// asIs is what the client makes of the file, line by line as they stand.
func (c *checker) asIs() *reading {
	v := newView(slices.Clone(c.facts))
	for i := range v.facts {
		if f := &v.facts[i]; f.was != nil {
			*f = *f.was
		} else {
			f.gone = f.unread
		}
	}
	v.number()
	return v.read(c.traits)
}

// choose takes what a rule has found: its impact is what two readings show, and what may be mended of it changes what is looked at next.
func (c *checker) choose(list []*found) {
	var every, chosen []change
	for _, f := range list {
		every = append(every, f.changes...)
	}
	if c.all = append(c.all, list...); len(every) == 0 {
		return
	}
	then := c.with(every).read(c.traits)
	impact := c.now.than(then)
	for _, f := range list {
		if f.at < len(c.now.on) && (c.now.on[f.at] || then.on[f.at]) || impact == finding.Blocks {
			if f.Impact = max(f.Impact, impact); f.Gap { // the record that is missing was sent, too
				f.Impact = max(f.Impact, finding.Loses)
			}
		}
		if r := &c.facts[f.at]; r.unread && f.Impact > finding.Loses && !(r.header() || f.Rule == ruleLostHeader) {
			f.Impact, f.Message = finding.Loses, "in what is left of a line that the client drops: "+f.Message
		}
		if f.chosen = c.mends(&f.Finding); !f.chosen {
			continue
		}
		f.changes = c.ofCopies(f)
		for _, ch := range f.changes {
			if ch.do != nil {
				c.owners[ch.at] = f
			}
		}
		chosen = append(chosen, f.changes...)
	}
	if len(chosen) > 0 {
		if c.file == nil {
			c.file = slices.Clone(c.facts)
		}
		c.apply(chosen)
		c.kids = nil
		c.now = c.read(c.traits)
	}
}

// ofCopies are the changes of a finding with the same ones of the copies of a record: else there would be two records of one id from then on.
func (c *checker) ofCopies(f *found) []change {
	list := f.changes
	for _, ch := range f.changes {
		if ch.do == nil && (ch.place != away || f.Rule == ruleSameRecord) {
			continue
		}
		for _, k := range c.twins[c.facts[ch.at].id] {
			if twin := &c.facts[k]; k != ch.at && !twin.gone && twin.sum == c.facts[ch.at].sum {
				ch.at = k
				list = append(list, ch)
			}
		}
	}
	return list
}

// mends says whether a finding is to be mended.
func (c *checker) mends(f *finding.Finding) bool {
	if mend := c.run.Options().Mend; mend != nil {
		return mend(f)
	}
	return f.Impact > finding.Notes && f.Fix != finding.NoFix
}

// find is a finding about a record.
func (c *checker) find(at int, rule *finding.Rule, fix finding.Fix, format string, args ...any) *found {
	ref := c.facts[c.anchor(at)].ref
	return &found{at: at, Finding: finding.Finding{
		Rule: rule, Fix: fix, Pos: ref.Pos, Offset: ref.Offset, On: ref, IDs: c.facts[at].id, Record: c.facts[at].kind, Message: fmt.Sprintf(format, args...),
	}}
}

// anchor is a record of the file: the record itself or, if a repair adds it, the one that it is added behind.
func (c *checker) anchor(at int) int {
	if at >= c.own {
		at = max(0, c.facts[at].behind)
	}
	return at
}

// hang sets a record's parent.
func (f *found) hang(at int, up string) { f.set(at, func(r *fact) { r.up, r.root = up, up == "" }) }

func (f *found) set(at int, do func(*fact), cuts ...session.Cut) {
	f.changes = append(f.changes, change{at: at, do: do, cuts: cuts})
}

// drop sets a record aside; what hangs on it is hung on its parent.
func (c *checker) drop(f *found, at int) {
	f.changes = append(f.changes, change{at: at, place: away})
	for _, k := range c.children()[c.facts[at].id] {
		if k != at {
			f.hang(k, c.facts[at].up)
		}
	}
}

// children are the records that hang on each id.
func (c *checker) children() map[string][]int {
	if c.kids == nil {
		c.kids = map[string][]int{}
		c.each(func(i int, f *fact) {
			if f.up != "" {
				c.kids[f.up] = append(c.kids[f.up], i)
			}
		})
	}
	return c.kids
}

// edits are what mends a finding that was chosen, as a repair takes it. Where several findings give a record an id or a parent, the last does.
func (c *checker) edits(f *found) (list []finding.Edit) {
	if !f.chosen {
		return nil
	}
	var order []int
	cuts := map[int][]session.Cut{}
	for _, ch := range f.changes {
		switch {
		case ch.add != nil:
			list = append(list, c.insertion(ch.add))
		case ch.place == away:
			list = append(list, finding.Edit{At: c.facts[ch.at].ref.Pos, Op: finding.Remove})
		case ch.place != inPlace:
			list = append(list, c.move(ch)...)
		case ch.at < c.own: // a record that is added is written as it is at the end
			if _, known := cuts[ch.at]; !known {
				order = append(order, ch.at)
			}
			cuts[ch.at] = append(cuts[ch.at], ch.cuts...)
		}
	}
	for _, at := range order {
		is, from, cut := &c.facts[at], &c.file[at], cuts[at]
		if owner := c.owners[at] == f; owner && is.id != from.id {
			cut = append(cut, from.idAt.to(quote(is.id)))
		}
		if owner := c.owners[at] == f; owner && (is.up != from.up || is.root != from.root) {
			cut = append(cut, from.upAt.to(is.parent()))
		}
		if len(cut) > 0 && !is.gone {
			list = append(list, finding.Edit{At: from.ref.Pos, Op: finding.Splice, Cuts: cut})
		}
	}
	return list
}

// insertion puts in a record as it is at the end.
func (c *checker) insertion(add *fact) finding.Edit {
	add = &c.facts[add.index]
	e := finding.Edit{Op: finding.After, New: finding.Content{Literal: add.line()}}
	if add.behind == inFront {
		e.At, e.Op, e.Lead = c.facts[0].ref.Pos, finding.Before, true
	} else {
		e.At = c.facts[add.behind].ref.Pos
	}
	return e
}

// move takes a record to the beginning or to the end of the file.
func (c *checker) move(ch change) []finding.Edit {
	from := c.facts[ch.at].ref
	in := finding.Edit{At: c.facts[0].ref.Pos, Op: finding.Before, New: finding.Content{From: &from}, Lead: true}
	if ch.place == toEnd {
		in = finding.Edit{At: c.facts[c.own-1].ref.Pos, Op: finding.After, New: finding.Content{From: &from}, Tail: true}
	}
	return []finding.Edit{{At: from.Pos, Op: finding.Remove, Moved: true}, in}
}

// Settle says what a fault of a line does: by what the client reads of the file without the records on it.
func (c *checker) Settle(f *finding.Finding) {
	if !f.Framing || c.now == nil {
		return
	}
	harm, last := finding.Notes, max(f.Pos.Line, f.Through)
	for i, _ := c.index(session.Pos{Line: f.Pos.Line}); i < c.own && c.facts[i].ref.Pos.Line <= last; i++ {
		switch r := &c.facts[i]; {
		case r.gone || !r.unread && r.was == nil && f.Fix != finding.Recovered:
		case c.is.blocked() && (r.header() || r.was != nil && (c.now.on[i] || c.is.refused != "") && r.was.blocks(c.traits)):
			harm = finding.Blocks
		case c.now.on[i] && c.is.invalid > c.now.invalid:
			harm = max(harm, finding.Rejects)
		case c.now.on[i] && c.is.misses(c.now):
			harm = max(harm, finding.Loses)
		case r.unread || f.Fix == finding.Recovered: // nor can its user find it
			harm = max(harm, finding.Shows)
		}
	}
	at := c.headerAt()
	rewritten := at >= 0 && c.facts[at].rewritten
	k, _ := slices.BinarySearchFunc(c.dead, f.Pos.Line, func(d remains, line int64) int { return cmp.Compare(d.at.Line, line) })
	for ; k < len(c.dead) && c.dead[k].at.Line <= last; k++ {
		switch d := &c.dead[k]; {
		case d.value && d.before >= c.own:
			harm = max(harm, finding.Loses)
			f.Message += ": it is the end of the file, so nothing of the history is sent"
		case d.id != "", d.header != nil, d.ends, rewritten && f.Fix != finding.NoFix:
			harm = max(harm, finding.Loses)
		case d.null && c.traits.NullRefused:
			harm = finding.Blocks
		}
		if rewritten {
			f.Message += "; the client rewrites a file of this version at the next resume, and erases this line for good"
		}
	}
	if c.traits.Glues && (f.Rule == normalize.NoFinalNewline || f.Rule == normalize.TornTail) {
		harm = finding.Loses
	}
	if f.Rule == normalize.BOM && strings.Contains(f.Message, "UTF-16") { // no version reads that, with a mark or without
		harm = finding.Blocks
	}
	f.Impact = harm
}

// Counts says whether a record is on the chain that is sent. A line that can't be read may have been.
func (c *checker) Counts(at session.Pos) bool {
	if c.now == nil {
		return true
	}
	i, record := c.index(at)
	return !record || c.facts[i].header() || c.facts[i].gone || c.now.goes(i)
}

// Items is how much is sent of the file as it is, and of what is left once it is mended.
func (c *checker) Items() (seen, mended int64) {
	if c.now == nil {
		return 0, 0
	}
	if !c.is.blocked() {
		seen = int64(c.is.items)
	}
	return seen, int64(c.now.items)
}

// index is where among the file's records the one at a place is.
func (c *checker) index(at session.Pos) (int, bool) {
	return slices.BinarySearchFunc(c.facts[:c.own], at, func(f fact, p session.Pos) int { return f.ref.Pos.Compare(p) })
}
