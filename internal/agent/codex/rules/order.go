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

// order finds records that stand at another place than the client has written them: a disk, a sort or an editor has moved
// lines. Ordinals say where they belong, if none is there twice. They alone are no proof, because clients have bugs that give out
// wrong ones; so the times must agree.
type order struct {
	seen []placed
	over bool // the session is too long
}

// placed is where a record with an ordinal stands.
type placed struct {
	ordinal, offset, size, line int64
	written                     [len(codex.TimeForm)]byte
	sent                        bool // to the model
}

// The most records that a session may have, and that may be moved.
const (
	maxPlaced = 1 << 15
	maxMoved  = 1 << 13
)

func (o *order) add(rec *session.Record) {
	switch {
	case o.over || rec.Kind == session.Header: // that of a header has a rule of its own
	case rec.Pos.Part != 0 || rec.Pos.Lost > 0 || rec.Mended || rec.Torn:
	case len(o.seen) == maxPlaced:
		o.seen, o.over = nil, true
	default:
		p := placed{ordinal: rec.Ordinal.Value, offset: rec.Offset, size: rec.Size, line: rec.Pos.Line}
		copy(p.written[:], codex.Text(rec, codex.FieldTimestamp))
		p.sent = rec.Type == "compacted" || strings.HasPrefix(rec.Type, "response_item/")
		o.seen = append(o.seen, p)
	}
}

// descents counts how often the time goes back.
func descents(list []placed) (n int) {
	for i := range list[1:] {
		if bytes.Compare(list[i+1].written[:], list[i].written[:]) < 0 {
			n++
		}
	}
	return n
}

// finding is what has to be moved, nil if nothing has.
func (o *order) finding() *finding.Finding {
	byOrdinal := func(a, b placed) int { return cmp.Compare(a.ordinal, b.ordinal) }
	if len(o.seen) < 3 || slices.IsSortedFunc(o.seen, byOrdinal) {
		return nil
	}
	right := slices.Clone(o.seen)
	slices.SortFunc(right, byOrdinal)
	for i := range right[1:] {
		if right[i].ordinal == right[i+1].ordinal {
			return nil
		}
	}
	stays := ascending(o.seen)
	if moved := len(right) - len(stays); moved > maxMoved || descents(right) >= descents(o.seen) {
		return nil
	}
	return inOrder(right, stays)
}

// ascending gives the lines of as many records as can stay where they are: the longest row in which ordinals go up.
func ascending(list []placed) map[int64]bool {
	var tails []int // of the rows of each length, the index of the last record
	before := make([]int, len(list))
	for i := range list {
		n := sort.Search(len(tails), func(k int) bool { return list[tails[k]].ordinal >= list[i].ordinal })
		if before[i] = -1; n > 0 {
			before[i] = tails[n-1]
		}
		if n == len(tails) {
			tails = append(tails, i)
		} else {
			tails[n] = i
		}
	}
	stays := map[int64]bool{}
	for i := tails[len(tails)-1]; i >= 0; i = before[i] {
		stays[list[i].line] = true
	}
	return stays
}

// inOrder makes the finding that moves records behind those with lower ordinals that stay.
func inOrder(right []placed, stays map[int64]bool) *finding.Finding {
	first := right[slices.IndexFunc(right, func(p placed) bool { return stays[p.line] })]
	f := finding.Finding{Rule: ruleOrdinalBackward, Impact: finding.Shows, Fix: finding.Exact, First: true}
	at, op, moved := session.Pos{Line: first.line}, finding.Before, 0
	for i := range right {
		p := &right[i]
		pos := session.Pos{Line: p.line}
		if stays[p.line] {
			at, op = pos, finding.After
			continue
		}
		if moved++; moved == 1 || pos.Less(f.Pos) {
			f.Pos, f.Offset = pos, p.offset
		}
		if p.sent {
			f.Impact = finding.Loses
		}
		from := finding.Ref{Pos: pos, Offset: p.offset, Size: p.size}
		f.Edits = append(f.Edits,
			finding.Edit{At: pos, Op: finding.Remove, Moved: true, New: finding.Content{Numbered: true}},
			finding.Edit{At: at, Op: op, New: finding.Content{From: &from, Numbered: true}})
	}
	f.Message = fmt.Sprintf("%d records stand where neither their ordinals nor their times belong", moved)
	if moved == 1 {
		f.Message = "this record stands where neither its ordinal nor its time belongs"
	}
	if f.Impact == finding.Loses {
		f.Message += ": the model is sent another order"
	}
	return &f
}
