package session

import (
	"fmt"
	"slices"
)

// Cut replaces the bytes [Start, End) of a record by New.
type Cut struct {
	Start, End int
	New        []byte
}

// Apply makes all cuts in raw. Cuts at one place keep their order; two that overlap are an error, and raw is unchanged.
func Apply(raw []byte, cuts []Cut) ([]byte, error) {
	sorted := slices.Clone(cuts)
	slices.SortStableFunc(sorted, func(a, b Cut) int { return a.Start - b.Start })
	out := make([]byte, 0, len(raw)+64)
	at := 0
	for _, c := range sorted {
		if c.Start < at || c.End < c.Start || c.End > len(raw) {
			return nil, fmt.Errorf("two edits want the bytes around %d of one record", c.Start)
		}
		out = append(append(out, raw[at:c.Start]...), c.New...)
		at = c.End
	}
	return append(out, raw[at:]...), nil
}
