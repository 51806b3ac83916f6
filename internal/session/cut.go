package session

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/tidwall/gjson"
)

// Cut replaces the bytes [Start, End) of a record by New.
type Cut struct {
	Start, End int
	New        []byte
	// Element says that the range is an element of an array. Then one of the commas beside it goes, too, and other cuts
	// within it do nothing.
	Element bool
}

// Without takes an element out of the array that it stands in.
func Without(element gjson.Result) Cut {
	return Cut{Start: element.Index, End: element.Index + len(element.Raw), Element: true}
}

// Apply makes all cuts in raw. Cuts at the same place keep their order. A cut within bytes that another one takes out does
// nothing. It is an error if two cuts overlap in any other way; raw is then unchanged.
func Apply(raw []byte, cuts []Cut) ([]byte, error) {
	sorted := slices.Clone(cuts)
	slices.SortStableFunc(sorted, compare)
	out := make([]byte, 0, len(raw)+64)
	at, done := 0, overlap{} // raw[:at] is copied or replaced
	var prev *Cut
	for i, c := range sorted {
		switch done.next(c) {
		case moot:
			continue
		case collides:
			return nil, fmt.Errorf("two edits want the bytes around %d of one record", c.Start)
		}
		if c.End < c.Start || c.End > len(raw) {
			return nil, fmt.Errorf("an edit wants the bytes around %d of a record of %d bytes", c.Start, len(raw))
		}
		c.Start, c.End = max(c.Start, at), max(c.End, at) // the element in front of it may have taken a comma along
		if prev != nil && c.adds() && prev.adds() && prev.Start == c.Start && prev.New[len(prev.New)-1] != ',' {
			out = append(out, ',') // both add a member to an empty object
		}
		out = append(append(out, raw[at:c.Start]...), c.New...)
		at, prev = c.End, &sorted[i]
		if c.Element {
			out, at = dropComma(out, raw, at)
		}
	}
	return append(out, raw[at:]...), nil
}

// Colliding returns the indexes of those cuts of one record that would make Apply fail. Without them it succeeds.
func Colliding(cuts []Cut) (indexes []int) {
	order := make([]int, len(cuts))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return compare(cuts[a], cuts[b]) })
	var done overlap
	for _, i := range order {
		if done.next(cuts[i]) == collides {
			indexes = append(indexes, i)
		}
	}
	return indexes
}

// compare orders cuts by their place. At the same place, one that only adds comes before one that takes bytes out, and a
// longer cut comes before a shorter one, which lies within it.
func compare(a, b Cut) int {
	if a.Start != b.Start || a.Start == a.End || b.Start == b.End {
		return cmp.Or(a.Start-b.Start, min(a.End-a.Start, 1)-min(b.End-b.Start, 1))
	}
	return b.End - a.End
}

// overlap tells of each next cut, in order, whether it overlaps those before it.
type overlap struct {
	last Cut
	gone int // the end of the bytes that are taken out without a replacement
}

type verdict uint8

const (
	fits     verdict = iota
	moot             // its bytes are taken out already, or the same cut was made before
	collides         // it wants bytes that another cut has replaced
)

func (o *overlap) next(c Cut) verdict {
	switch {
	case c.Start < o.gone && c.End <= o.gone:
		return moot
	case c.Start < o.last.End && c.Start == o.last.Start && c.End == o.last.End && bytes.Equal(c.New, o.last.New):
		return moot
	case c.Start < o.last.End:
		return collides
	}
	if c.End > c.Start && len(trimLeft(c.New)) == 0 {
		o.gone = c.End
	}
	o.last = c
	return fits
}

// adds says whether a cut only adds a member.
func (c Cut) adds() bool { return c.Start == c.End && len(c.New) > 0 && c.New[0] == '"' }

// dropComma drops a comma along with an element that was taken out and ended at raw[at]: the comma behind it or, if the
// element was the last, the one in front of it, which is the end of out.
func dropComma(out, raw []byte, at int) ([]byte, int) {
	rest := trimLeft(raw[at:])
	if len(rest) > 0 && rest[0] == ',' {
		return out, len(raw) - len(trimLeft(rest[1:]))
	}
	return bytes.TrimSuffix(bytes.TrimRight(out, space), []byte{','}), at
}

const space = " \t\r\n"

func trimLeft(b []byte) []byte { return bytes.TrimLeft(b, space) }
