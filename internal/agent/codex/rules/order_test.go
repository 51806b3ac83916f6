package rules

import (
	"math/rand/v2"
	"slices"
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

// TestApart: without its copies a session still has every record, and each once.
func TestApart(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for range 500 {
		var file []int64 // ordinals, in the order of the file
		for n := range 1 + r.Int64N(40) {
			file = append(file, n)
		}
		had := int64(len(file))
		for range r.IntN(5) {
			from := r.IntN(len(file))
			block := slices.Clone(file[from:min(len(file), from+1+r.IntN(8))])
			file = slices.Insert(file, r.IntN(len(file)+1), block...)
		}
		o := order{}
		for i, n := range file {
			if i == 0 || n != file[i-1]+1 {
				o.stretches = append(o.stretches, stretch{ordinal: n, line: int64(i + 1), marks: i})
			}
			o.stretches[len(o.stretches)-1].records++
			o.marks = append(o.marks, orderMark{sum: uint32(n)})
		}
		rest, ok := o.apart()
		times := map[int64]int{}
		for _, s := range rest {
			for k := range s.records {
				if n := file[s.pos(k).Line-1]; n != s.ordinal+k {
					t.Fatalf("%v: %+v holds %d", file, s, n)
				}
				times[s.ordinal+k]++
			}
		}
		for n := range had {
			if times[n] != 1 || !ok {
				t.Fatalf("%v: record %d is left %d times, ok %v: %+v", file, n, times[n], ok, rest)
			}
		}
	}
}
