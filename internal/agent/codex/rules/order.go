package rules

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/session"
)

// order finds records that are not where the client wrote them: a disk, a sort or an editor has moved lines, or has left copies of
// some elsewhere. Their ordinals say where they belong. Ordinals alone are no proof, because some clients give out wrong ones, so
// the times must agree. Nearly every session is a single stretch; of each of its records only eight bytes are kept.
type order struct {
	stretches []stretch
	marks     []orderMark // of the records of all stretches in the order of the file
	records   int
	next      int64     // the ordinal that is due
	astray    bool      // the newest record is on a damaged line, and it or one of those before it is not the one that was due
	changed   int64     // the newest damaged line that does not hold its records as they are
	copies    []stretch // of records that are elsewhere, too, in the order of the file; apart finds them
	copied    []stretch // of these records
	over      bool      // the session is too long, or too much in disorder
}

// stretch is a row of records on consecutive lines with consecutive ordinals.
type stretch struct {
	ordinal, line, offset int64 // of the first
	end                   int64 // the offset behind the last
	records               int64
	marks                 int // where those of its records begin
	back                  int // how often the time goes back inside it
	first, last           [len(codex.TimeForm)]byte
	part                  int32       // of the line, if that is damaged
	damaged               bool        // a single record, on a damaged line
	cut                   finding.Cut // where that line holds its bytes
}

// pos is the place of one of its records.
func (s *stretch) pos(i int64) session.Pos { return session.Pos{Line: s.line + i, Part: s.part} }

const (
	maxOrdered   = 1 << 18 // records in the session
	maxStretches = 1 << 13
	maxMoved     = 1 << 13 // records
)

// add takes the next record with an ordinal into account. Headers have rules of their own. Records on damaged lines are not moved, but
// may be copies from the first on whose ordinal is not the one that is due.
func (o *order) add(rec *session.Record) {
	due := rec.Ordinal.Value == o.next
	o.next = rec.Ordinal.Value + 1
	damaged := rec.Pos.Part != 0 || rec.Mended
	o.astray = damaged && (o.astray || !due)
	if o.over || rec.Kind == session.Header || rec.Pos.Lost > 0 || rec.Torn || damaged && !o.astray {
		return
	}
	cut, ok := finding.Cut{}, true
	if damaged {
		if cut, ok = o.inLine(rec); !ok {
			return
		}
	}
	written := codex.Literal(rec, codex.FieldTimestamp)
	n := len(o.stretches)
	if n == 0 || damaged || !o.stretches[n-1].goesOn(rec) {
		o.stretches = append(o.stretches, stretch{
			ordinal: rec.Ordinal.Value, line: rec.Pos.Line, part: rec.Pos.Part, offset: rec.Offset, marks: len(o.marks), damaged: damaged, cut: cut,
		})
		n++
		copy(o.stretches[n-1].first[:], written)
	}
	s := &o.stretches[n-1]
	if bytes.Compare(written, s.last[:]) < 0 {
		s.back++
	}
	copy(s.last[:], written)
	s.records++
	s.end = rec.Offset + rec.Size
	o.marks = append(withRoom(o.marks, maxOrdered+1), markOf(rec, written, damaged))
	if o.records++; o.records > maxOrdered || n > maxStretches {
		*o = order{over: true}
	}
}

// inLine is where a damaged line holds a record as it is, behind the record of the same line that came before. It must hold more than that
// record: otherwise the line is only ended or begun in another way.
func (o *order) inLine(rec *session.Record) (cut finding.Cut, ok bool) {
	if o.changed == rec.Pos.Line || len(bytes.Trim(rec.Original, "\ufeff\x00 \t\r\n")) == len(rec.Raw) {
		return cut, false
	}
	from := 0
	if n := len(o.stretches); n > 0 && o.stretches[n-1].damaged && o.stretches[n-1].line == rec.Pos.Line {
		from = o.stretches[n-1].cut.End
	}
	at := bytes.Index(rec.Original[min(from, len(rec.Original)):], rec.Raw)
	if at < 0 || bytes.IndexByte(rec.Original, '\n') >= 0 {
		o.changed = rec.Pos.Line // not looked through again for each of its records
		return cut, false
	}
	return finding.Cut{Start: from + at, End: from + at + len(rec.Raw)}, true
}

// behind is the ordinal after the last of them.
func (s *stretch) behind() int64 { return s.ordinal + s.records }

// orderMark is what it takes to move a record and to know a copy of it.
type orderMark struct {
	size uint32 // twice its size, and 1 more if the model is sent it
	sum  uint32 // a hash of its time and its last bytes
}

func (m orderMark) bytes() int64 { return int64(m.size / 2) }

func (m orderMark) sent() bool { return m.size&1 != 0 }

func markOf(rec *session.Record, written []byte, damaged bool) orderMark {
	size := 2 * uint32(rec.Size)
	if damaged {
		size = 2 * uint32(len(rec.Raw)+1) // as it would be on a line of its own
	}
	if rec.Type == "compacted" || strings.HasPrefix(rec.Type, "response_item/") {
		size++
	}
	sum := codex.SumTime(written) ^ codex.Sum(rec.Raw[max(0, len(rec.Raw)-tailSize):])
	return orderMark{size, uint32(sum)}
}

// tailSize is how many of a record's last bytes are compared.
const tailSize = 64

// marksOf are the marks of the records of a stretch.
func (o *order) marksOf(s *stretch) []orderMark { return o.marks[s.marks : s.marks+int(s.records)] }

// goesOn says whether a record follows the last one of a stretch, in the file and by its ordinal.
func (s *stretch) goesOn(rec *session.Record) bool {
	return !s.damaged && rec.Ordinal.Value == s.ordinal+s.records && rec.Pos.Line == s.line+s.records && rec.Offset == s.end
}

// findings take out what is there twice, and move what has to be moved.
func (o *order) findings() (list []finding.Finding) {
	byOrdinal := func(a, b stretch) int { return cmp.Compare(a.ordinal, b.ordinal) }
	if o.records < 3 || slices.IsSortedFunc(o.stretches, byOrdinal) && !o.overlap() {
		return nil
	}
	rest, ok := o.apart()
	if len(o.copies) > 0 {
		list = append(list, o.spare())
	}
	if !ok {
		return list
	}
	rest = slices.DeleteFunc(rest, func(s stretch) bool { return s.damaged })
	if slices.IsSortedFunc(rest, byOrdinal) {
		return list
	}
	right := slices.Clone(rest)
	slices.SortFunc(right, byOrdinal)
	stays, kept := ascending(rest)
	all := int64(0)
	for i := range rest {
		all += rest[i].records
	}
	if all-kept <= maxMoved && descents(right) < descents(rest) {
		list = append(list, *o.inOrder(right, stays))
	}
	return list
}

// descents counts how often the time goes back.
func descents(list []stretch) (n int) {
	for i := range list {
		n += list[i].back
		if i > 0 && bytes.Compare(list[i].first[:], list[i-1].last[:]) < 0 {
			n++
		}
	}
	return n
}

// ascending chooses the stretches that stay where they are, by their lines: those that hold the most records of which the ordinals go
// up. The ordinals of no two stretches overlap. kept is how many records they hold.
func ascending(list []stretch) (stays map[int64]bool, kept int64) {
	type row struct { // a choice that ends with a stretch
		ordinal, records int64
		last             int
	}
	var rows []row // those that no other beats: with rising ordinals, each holds more records than the one before
	before := make([]int, len(list))
	for i := range list {
		s := &list[i]
		at := sort.Search(len(rows), func(k int) bool { return rows[k].ordinal > s.ordinal })
		r := row{s.ordinal, s.records, i}
		if before[i] = -1; at > 0 {
			before[i] = rows[at-1].last
			r.records += rows[at-1].records
		}
		beaten := at
		for beaten < len(rows) && rows[beaten].records <= r.records {
			beaten++
		}
		rows = slices.Replace(rows, at, beaten, r)
	}
	best := rows[len(rows)-1]
	stays = map[int64]bool{}
	for i := best.last; i >= 0; i = before[i] {
		stays[list[i].line] = true
	}
	return stays, best.records
}

// inOrder makes the finding that moves each record behind those with lower ordinals that stay.
func (o *order) inOrder(right []stretch, stays map[int64]bool) *finding.Finding {
	first := right[slices.IndexFunc(right, func(s stretch) bool { return stays[s.line] })]
	f := finding.Finding{Rule: ruleOrdinalBackward, Impact: finding.Shows, Fix: finding.Exact, First: true}
	at, op, moved := session.Pos{Line: first.line}, finding.Before, int64(0)
	for _, s := range right {
		if stays[s.line] {
			at, op = session.Pos{Line: s.line + s.records - 1}, finding.After
			continue
		}
		if pos := (session.Pos{Line: s.line}); moved == 0 || pos.Less(f.Pos) {
			f.Pos, f.Offset = pos, s.offset
		}
		moved += s.records
		f.Impact = max(f.Impact, o.move(&f, s, at, op))
	}
	f.Message = fmt.Sprintf("%d records are out of place: their ordinals and times belong elsewhere in the file", moved)
	if moved == 1 {
		f.Message = "this record is out of place: its ordinal and its time belong elsewhere in the file"
	}
	if f.Impact == finding.Loses {
		f.Message += "; the model is sent another order"
	}
	return &f
}

// move adds the edits that move the records of a stretch, and returns what it means that they are in the wrong place.
func (o *order) move(f *finding.Finding, s stretch, at session.Pos, op finding.Op) finding.Impact {
	impact, offset := finding.Shows, s.offset
	for i, m := range o.marksOf(&s) {
		if m.sent() {
			impact = finding.Loses
		}
		from := finding.Ref{Pos: s.pos(int64(i)), Offset: offset, Size: m.bytes()}
		offset += from.Size
		f.Edits = append(f.Edits,
			finding.Edit{At: from.Pos, Op: finding.Remove, Moved: true, New: finding.Content{Numbered: true}},
			finding.Edit{At: at, Op: op, New: finding.Content{From: &from, Numbered: true}})
	}
	return impact
}
