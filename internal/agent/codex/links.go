package codex

import (
	"fmt"

	"github.com/tidwall/gjson"
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

// Keep returns the line of a record that stays, with the ordinal it gets.
func (n *numberer) Keep(line []byte, copyLine int64) ([]byte, error) {
	if !n.on {
		return line, nil
	}
	value := gjson.GetBytes(line, "ordinal")
	if value.Type != gjson.Number && !n.renumber {
		return line, nil
	}
	o := value.Int()
	if n.renumber {
		n.shift = n.out + 1 - o
	} else {
		gap := max(0, o-n.original-1)
		n.shift += n.inserted - min(gap, n.inserted+n.removed)
	}
	n.inserted, n.removed = 0, 0
	n.original, n.out = o, o+n.shift
	if n.shift == 0 && value.Type == gjson.Number {
		return line, nil
	}
	if o < n.base {
		return nil, fmt.Errorf("a repair would renumber what this sub-agent inherited (ordinal %d of %d); nothing was changed", o, n.base)
	}
	if n.changed.count == 0 {
		n.changed.first = copyLine
	}
	n.changed.count++
	n.changed.last = copyLine
	return SetOrdinal(line, n.out), nil
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
	return SetOrdinal(line, n.out)
}

// Remove says that a record leaves its place.
func (n *numberer) Remove([]byte) { n.removed++ }

// Renumber lets the numbers count up from the next record on.
func (n *numberer) Renumber() { n.renumber = true }

// Changed is how many records got another number, and on which lines of the copy.
func (n *numberer) Changed() (count, first, last int64) {
	return n.changed.count, n.changed.first, n.changed.last
}
