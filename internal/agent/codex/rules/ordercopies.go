package rules

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/session"
)

// overlap says whether two neighbours of the stretches have an ordinal in common.
func (o *order) overlap() bool {
	for i := 1; i < len(o.stretches); i++ {
		if before := &o.stretches[i-1]; before.ordinal+before.records > o.stretches[i].ordinal {
			return true
		}
	}
	return false
}

// piece is a part of a stretch that begins and ends where any of them does, so that it is there as a whole in another, or not at all.
type piece struct {
	stretch
	of    int  // the index of its stretch
	twice bool // its records are elsewhere, too
	copy  bool // and stay there
}

// apart takes copies out of the stretches: in what is left, no ordinal is there twice. ok is false if some records with the same
// ordinal are no copies, or too many are: these are left.
func (o *order) apart() (rest []stretch, ok bool) {
	pieces := o.pieces()
	if len(pieces) == 0 {
		return nil, false
	}
	same := make([]*piece, len(pieces))
	for i := range pieces {
		same[i] = &pieces[i]
	}
	slices.SortStableFunc(same, func(a, b *piece) int { return cmp.Compare(a.ordinal, b.ordinal) })
	ok = true
	for len(same) > 0 {
		n := 1
		for n < len(same) && same[n].ordinal == same[0].ordinal {
			n++
		}
		ok = o.choose(same[:n]) && ok
		same = same[n:]
	}
	o.copies = joined(pieces, func(p *piece) bool { return p.copy })
	o.copied = joined(pieces, func(p *piece) bool { return p.twice && !p.copy })
	n := int64(0)
	for i := range o.copies {
		n += o.copies[i].records
	}
	if n > maxMoved {
		o.copies = nil
		return nil, false
	}
	return joined(pieces, func(p *piece) bool { return !p.copy }), ok
}

// pieces cuts all stretches into pieces, in the order of the file; nil if they are too many.
func (o *order) pieces() (list []piece) {
	ends := make([]int64, 0, 2*len(o.stretches))
	for i := range o.stretches {
		ends = append(ends, o.stretches[i].ordinal, o.stretches[i].behind())
	}
	slices.Sort(ends)
	ends = slices.Compact(ends)
	for i, s := range o.stretches {
		next, _ := slices.BinarySearch(ends, s.ordinal+1)
		for ; ends[next] < s.behind(); next++ {
			var head stretch
			head, s = o.cut(s, ends[next]-s.ordinal)
			list = append(list, piece{stretch: head, of: i})
		}
		if list = append(list, piece{stretch: s, of: i}); len(list) > 4*maxStretches {
			return nil
		}
	}
	return list
}

// choose marks as copies all but one of the pieces with the same ordinals. It is false if their records are not the same.
func (o *order) choose(same []*piece) bool {
	best := same[0]
	for _, p := range same[1:] {
		if !slices.Equal(o.marksOf(&p.stretch), o.marksOf(&best.stretch)) {
			return false
		}
		if o.rank(p) > o.rank(best) {
			best = p
		}
	}
	for _, p := range same {
		p.copy, p.twice = p != best, len(same) > 1
	}
	return true
}

// rank is the higher, the likelier a piece stands where the client wrote it: it has its place between its neighbours, or there is more
// around it that belongs to it.
func (o *order) rank(p *piece) int64 {
	s := &o.stretches[p.of]
	switch {
	case s.damaged:
		return 0
	case p.of > 0 && o.stretches[p.of-1].behind() > s.ordinal || p.of < len(o.stretches)-1 && s.behind() > o.stretches[p.of+1].ordinal:
		return s.records
	}
	return maxOrdered + s.records
}

// joined puts some of the pieces together again.
func joined(pieces []piece, which func(*piece) bool) (list []stretch) {
	of := -1
	for i := range pieces {
		p := &pieces[i]
		if !which(p) {
			continue
		}
		if n := len(list) - 1; of == p.of && list[n].behind() == p.ordinal {
			list[n].records, list[n].end = list[n].records+p.records, p.end
			continue
		}
		list, of = append(list, p.stretch), p.of
	}
	return list
}

// cut cuts a stretch in two behind n records. What the parts say of times is that of the whole.
func (o *order) cut(s stretch, n int64) (head, tail stretch) {
	head, tail = s, s
	head.records, tail.records = n, s.records-n
	tail.ordinal, tail.line, tail.marks = s.ordinal+n, s.line+n, s.marks+int(n)
	for _, m := range o.marksOf(&head) {
		tail.offset += m.bytes()
	}
	head.end = tail.offset
	return head, tail
}

// spare makes the finding that takes out copies.
func (o *order) spare() finding.Finding {
	first := &o.copies[0]
	f := finding.Finding{Rule: ruleDoubledItem, Impact: finding.Shows, Fix: finding.SetAside, First: true, Pos: first.pos(0), Offset: first.offset}
	n := 0
	for i := range o.copies {
		for k, m := range o.marksOf(&o.copies[i]) {
			if m.sent() {
				f.Unseen++
				f.Impact = finding.Loses
			}
			f.Edits = append(f.Edits, o.copies[i].takeOut(int64(k)))
			n++
		}
	}
	f.Message = fmt.Sprintf("%d records are there twice, with the same ordinals and times: these are the copies", n)
	if n == 1 {
		f.Message = "this record is a copy of one elsewhere in the file, with the same ordinal and time"
	}
	return f
}

// takeOut is the edit that takes out one of a stretch's records. On a damaged line, the rest of the line stays as it is.
func (s *stretch) takeOut(i int64) finding.Edit {
	if s.damaged {
		return finding.Edit{At: session.Pos{Line: s.line}, Op: finding.Splice, Line: true, Cuts: []finding.Cut{s.cut}}
	}
	return finding.Edit{At: s.pos(i), Op: finding.Remove, New: finding.Content{Numbered: true}}
}

// explains says whether a finding is only about copies: it is on one, or puts in what one says, or is about a message that is sent twice.
// Once the copies are gone, nothing of that is true. What the API refuses because of them stays named, and so does a call or an output whose
// other half is lost: that is so with copies and without.
func (o *order) explains(f *finding.Finding) bool {
	switch {
	case f.Framing || refusedTwice(f) || f.Rule == check.CallWithoutOutput || f.Rule == check.OutputWithoutCall:
		return false
	case within(o.copies, f.Pos), slices.ContainsFunc(f.Edits, func(e finding.Edit) bool { return e.New.From != nil && within(o.copies, e.New.From.Pos) }):
		return true
	}
	return f.Rule == ruleDoubledItem && within(o.copied, f.Pos)
}

// refusedTwice says whether a finding is about a call or an output that the API may refuse because it is sent twice.
func refusedTwice(f *finding.Finding) bool {
	return f.Rule == ruleDuplicateCall || f.Rule == ruleDuplicateOutput || f.Rule == ruleOutputBeforeCall
}

// counted is how many of the items that are there twice other findings count.
func (o *order) counted(findings []finding.Finding) (n int64) {
	for i := range findings {
		if f := &findings[i]; refusedTwice(f) && (within(o.copies, f.Pos) || within(o.copied, f.Pos)) {
			n += f.Unseen
		}
	}
	return n
}

// within says whether a record is one of some stretches, which are in the order of the file.
func within(list []stretch, at session.Pos) bool {
	i := sort.Search(len(list), func(i int) bool { return at.Less(list[i].pos(0)) }) - 1
	return i >= 0 && (at == list[i].pos(0) || !list[i].damaged && at.Part == 0 && at.Line < list[i].line+list[i].records)
}
