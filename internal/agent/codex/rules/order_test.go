package rules

import (
	"math/rand/v2"
	"testing"
)

// TestAscending: what stays is in order, and no other choice holds more records.
func TestAscending(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 500 {
		list := make([]stretch, 1+r.IntN(9))
		ordinals := r.Perm(len(list))
		for i := range list {
			list[i] = stretch{ordinal: int64(100 * ordinals[i]), line: int64(i + 1), records: 1 + r.Int64N(9)}
		}
		var most int64
		for choice := range 1 << len(list) {
			most = max(most, inAscent(list, func(i int) bool { return choice&(1<<i) != 0 }))
		}
		stays, kept := ascending(list)
		if held := inAscent(list, func(i int) bool { return stays[list[i].line] }); held != kept || kept != most {
			t.Fatalf("%+v: %v stay, with %d records, said to be %d; %d could", list, stays, held, kept, most)
		}
	}
}

// inAscent is how many records the chosen stretches hold, 0 if their ordinals do not go up.
func inAscent(list []stretch, chosen func(int) bool) (records int64) {
	last := int64(-1)
	for i := range list {
		if !chosen(i) {
			continue
		}
		if list[i].ordinal < last {
			return 0
		}
		last = list[i].ordinal
		records += list[i].records
	}
	return records
}
