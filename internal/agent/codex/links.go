package codex

import (
	"bytes"

	"github.com/hist-cli/hist/internal/session"
)

// numberer keeps the ordinals of a paginated session right while records come and go. A record that fills a gap, or
// takes a dead line's place, costs no other record its number; otherwise what follows is shifted.
type numberer struct {
	on       bool
	base     int64 // ordinals below are a sub-agent's inheritance, which must keep its numbers
	original int64 // ordinal of the last record kept, as it was
	out      int64 // the last ordinal written
	shift    int64
	inserted int64 // records inserted since the last one kept
	removed  int64 // records and dead lines removed since
	renumber bool
	began    bool // a record with a number has come
	changed  span
}

// newNumberer begins with the ordinal that the session's first record has: 0, or where its ancestor ended.
func newNumberer(on bool, first, base int64) *numberer {
	return &numberer{on: on, base: base, original: first - 1, out: first - 1}
}

// span is a range of renumbered records.
type span struct {
	count       int64
	first, last int64 // lines in the copy
}

func (s *span) add(line int64) {
	if s.count == 0 {
		s.first = line
	}
	s.count++
	s.last = line
}

// Keep returns the line of a record that stays, with the ordinal it gets.
func (n *numberer) Keep(line []byte, copyLine int64) ([]byte, error) {
	if !n.on {
		return line, nil
	}
	ordinal, _ := ordinalOf(line)
	o, good := ordinal.Value, ordinal.State == session.GoodOrdinal
	header := good && o != n.original+1 && Agent{}.IsHeader(line)
	switch {
	case n.renumber && !header: // a header without a number needs one like any other record
	case ordinal.State == session.NoOrdinal:
		return line, nil
	case !good: // lint takes it for the number that is due here
		n.original++
		n.out++
		return line, nil
	case header && n.began && o != n.original+1:
		return line, nil // one that stands in the wrong place tells nothing of the sequence
	}
	n.began = true
	if n.original+1 < n.base && o < n.base {
		n.inserted, n.removed = 0, 0
		n.original = max(n.original, o)
		n.out = n.original
		return line, nil // what a sub-agent inherited keeps its numbers, whatever came and went there
	}
	if o < n.base && !n.renumber {
		return line, nil // a copy of it stands among the sub-agent's own records
	}
	if n.renumber {
		n.shift = max(n.out+1, n.base) - o
	} else {
		gap := max(0, o-n.original-1)
		n.shift += n.inserted - min(gap, n.inserted+n.removed)
	}
	n.inserted, n.removed = 0, 0
	n.original, n.out = o, o+n.shift
	if n.shift == 0 && good {
		return line, nil
	}
	n.changed.add(copyLine)
	return setOrdinal(line, n.out), nil
}

// Same says whether two lines differ in nothing but what Keep changes.
func (n *numberer) Same(was, is []byte) bool {
	ordinal, _ := ordinalOf(is)
	return n.on && bytes.Equal(setOrdinal(was, ordinal.Value), is)
}

// Steady says whether the records to come keep their numbers.
func (n *numberer) Steady() bool {
	return !n.on || n.shift == 0 && n.inserted == 0 && n.removed == 0 && !n.renumber
}

// Insert returns the line of a new record with the next ordinal.
func (n *numberer) Insert(line []byte) []byte {
	if !n.on {
		return line
	}
	n.inserted++
	n.out++
	return setOrdinal(line, n.out)
}

// Remove says that a record leaves its place.
func (n *numberer) Remove([]byte) { n.removed++ }

// Renumber lets the numbers count up from the next record on.
func (n *numberer) Renumber() { n.renumber = true }

// Changed is how many records got another number, and on which lines of the copy.
func (n *numberer) Changed() (count, first, last int64) {
	return n.changed.count, n.changed.first, n.changed.last
}
