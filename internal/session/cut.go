package session

import (
	"bytes"
	"fmt"
	"slices"
)

// Cut replaces the bytes [Start, End) of a record by New.
type Cut struct {
	Start, End int
	New        []byte
	// Element: the range is an element of an array. It goes with a comma, and so do other cuts within it.
	Element bool
}

// Apply makes all cuts in raw. Cuts at one place keep their order; two that overlap are an error, and raw is unchanged.
func Apply(raw []byte, cuts []Cut) ([]byte, error) {
	sorted := slices.Clone(cuts)
	slices.SortStableFunc(sorted, func(a, b Cut) int { return a.Start - b.Start })
	out := make([]byte, 0, len(raw)+64)
	at, gone := 0, 0 // what is done of raw, and up to where an element that is gone has reached
	for i, c := range sorted {
		if c.End <= gone && c.End > c.Start {
			continue
		}
		if c.Start < at || c.End < c.Start || c.End > len(raw) {
			return nil, fmt.Errorf("two edits want the bytes around %d of one record", c.Start)
		}
		if i > 0 && c.adds() && sorted[i-1].adds() && sorted[i-1].Start == c.Start && sorted[i-1].New[len(sorted[i-1].New)-1] != ',' {
			out = append(out, ',') // both are members of an object that had none
		}
		out = append(append(out, raw[at:c.Start]...), c.New...)
		at = c.End
		if c.Element {
			gone = c.End
			out, at = dropComma(out, raw, at)
		}
	}
	return append(out, raw[at:]...), nil
}

// adds says whether a cut only adds a member.
func (c Cut) adds() bool { return c.Start == c.End && len(c.New) > 0 && c.New[0] == '"' }

// dropComma takes the comma behind an element that ended at a byte of raw or, if it was the last, the one in front.
func dropComma(out, raw []byte, at int) ([]byte, int) {
	rest := trimLeft(raw[at:])
	if len(rest) > 0 && rest[0] == ',' {
		return out, len(raw) - len(trimLeft(rest[1:]))
	}
	return bytes.TrimSuffix(bytes.TrimRight(out, space), []byte{','}), at
}

const space = " \t\r\n"

func trimLeft(b []byte) []byte { return bytes.TrimLeft(b, space) }
