package session

import (
	"slices"
	"testing"
)

// TestPosOrder: positions are ordered by line, then by record, then by what was lost behind it, and Less and Compare agree.
func TestPosOrder(t *testing.T) {
	sorted := []Pos{{}, {Line: 1}, {Line: 1, Lost: 1}, {Line: 1, Part: 1}, {Line: 1, Part: 1, Lost: 2}, {Line: 2}}
	if !slices.IsSortedFunc(sorted, Pos.Compare) {
		t.Error("Compare has another order")
	}
	for i, p := range sorted {
		for j, q := range sorted {
			if p.Less(q) != (i < j) || (p.Compare(q) < 0) != (i < j) || (p.Compare(q) == 0) != (i == j) {
				t.Errorf("%v, %v: %v, %d", p, q, p.Less(q), p.Compare(q))
			}
		}
	}
}
