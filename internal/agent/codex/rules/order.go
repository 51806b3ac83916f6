package rules

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/session"
)

// order finds records that are not where the client wrote them: a disk, a sort or an editor has moved lines. Their ordinals say
// where they belong, if none appears twice. Ordinals alone are no proof, because some clients give out wrong ones, so the times must
// agree. Nearly every session is a single stretch; of its records only the sizes are kept, two or three bytes each.
type order struct {
	stretches []stretch
	sizes     []byte // of the records of all stretches in the order of the file: for each, twice its size, and 1 more if the model is sent it
	records   int
	over      bool // the session is too long, or too much in disorder
}

// stretch is a row of records on consecutive lines with consecutive ordinals.
type stretch struct {
	ordinal, line, offset int64 // of the first
	end                   int64 // the offset behind the last
	records               int64
	sizes                 int // where its sizes begin
	back                  int // how often the time goes back inside it
	first, last           [len(codex.TimeForm)]byte
}

const (
	maxOrdered   = 1 << 18 // records in the session
	maxStretches = 1 << 13
	maxMoved     = 1 << 13 // records
)

// add takes the next record with an ordinal into account. Records on damaged lines are not moved, nor are headers, which have rules
// of their own.
func (o *order) add(rec *session.Record) {
	if o.over || rec.Kind == session.Header || rec.Pos.Part != 0 || rec.Pos.Lost > 0 || rec.Mended || rec.Torn {
		return
	}
	written := codex.Text(rec, codex.FieldTimestamp)
	n := len(o.stretches)
	if n == 0 || !o.stretches[n-1].goesOn(rec) {
		o.stretches = append(o.stretches, stretch{ordinal: rec.Ordinal.Value, line: rec.Pos.Line, offset: rec.Offset, sizes: len(o.sizes)})
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
	size := 2 * uint64(rec.Size)
	if rec.Type == "compacted" || strings.HasPrefix(rec.Type, "response_item/") {
		size++
	}
	o.sizes = binary.AppendUvarint(o.sizes, size)
	if o.records++; o.records > maxOrdered || n > maxStretches {
		*o = order{over: true}
	}
}

// goesOn says whether a record follows the last one of a stretch, in the file and by its ordinal.
func (s *stretch) goesOn(rec *session.Record) bool {
	return rec.Ordinal.Value == s.ordinal+s.records && rec.Pos.Line == s.line+s.records && rec.Offset == s.end
}

// finding moves what has to be moved; it is nil if nothing has.
func (o *order) finding() *finding.Finding {
	byOrdinal := func(a, b stretch) int { return cmp.Compare(a.ordinal, b.ordinal) }
	if o.records < 3 || slices.IsSortedFunc(o.stretches, byOrdinal) {
		return nil
	}
	right := slices.Clone(o.stretches)
	slices.SortFunc(right, byOrdinal)
	for i := range right[1:] {
		if right[i].ordinal+right[i].records > right[i+1].ordinal {
			return nil
		}
	}
	stays, kept := ascending(o.stretches)
	if int64(o.records)-kept > maxMoved || descents(right) >= descents(o.stretches) {
		return nil
	}
	return o.inOrder(right, stays)
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
	impact, offset, sizes := finding.Shows, s.offset, o.sizes[s.sizes:]
	for i := range s.records {
		v, n := binary.Uvarint(sizes)
		sizes = sizes[n:]
		if v&1 != 0 {
			impact = finding.Loses
		}
		from := finding.Ref{Pos: session.Pos{Line: s.line + i}, Offset: offset, Size: int64(v / 2)}
		offset += from.Size
		f.Edits = append(f.Edits,
			finding.Edit{At: from.Pos, Op: finding.Remove, Moved: true, New: finding.Content{Numbered: true}},
			finding.Edit{At: at, Op: op, New: finding.Content{From: &from, Numbered: true}})
	}
	return impact
}
