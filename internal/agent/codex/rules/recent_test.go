package rules

import (
	"math/rand"
	"testing"
	"unsafe"
)

// TestRecent compares with a map and a list. The keys differ in few bits, so that they meet in the table.
func TestRecent(t *testing.T) {
	for _, limit := range []int{1, 2, 3, 40, 1000} {
		for _, keys := range []int64{3, 50, 3000} {
			rng := rand.New(rand.NewSource(keys))
			r := recent[int]{limit: limit}
			var order []uint64
			values, last := map[uint64]int{}, map[uint64]int{}
			for i := range 20000 {
				key := uint64(1+rng.Int63n(keys)) << (16 * (i % 3))
				if got := r.get(key); got == nil != (last[key] == 0) || got != nil && *got != values[key] {
					t.Fatalf("limit %d: %v for %d, which is %d", limit, got, key, values[key])
				}
				value, gone := r.add(key)
				left := *value
				*value = i
				values[key], last[key] = i, i+1
				order = append(order, key)
				if len(order) <= limit {
					continue
				}
				if old := order[len(order)-limit-1]; last[old] == len(order)-limit {
					if gone != old || left != values[old] {
						t.Fatalf("limit %d: %d with %d had to go where it is %d", limit, gone, left, old)
					}
					delete(last, old)
				} else if gone != 0 {
					t.Fatalf("limit %d: %d went, which has come again", limit, gone)
				}
			}
			r.clear()
			if r.get(order[0]) != nil || len(r.ring) != 0 {
				t.Error("something is left")
			}
		}
	}
}

// TestBytesPerCall: what is remembered of the calls and ids of a long session is bounded, in number and in bytes of each.
func TestBytesPerCall(t *testing.T) {
	c, ids := newCallChecker(&run{}), newItemChecker(&run{})
	rng := rand.New(rand.NewSource(1))
	for range 3 * oldAnswered {
		c.keep(callKey(rng.Uint64()), answered{})
		ids.seen.put(rng.Uint64(), seenID{})
	}
	total := 0
	for _, s := range []struct {
		name           string
		kept, want     int
		bytes, perCall int
	}{
		{"newest calls", len(c.done.ring), newAnswered, room(&c.done), 100},
		{"calls before", len(c.old.ring), oldAnswered, room(&c.old), 32},
		{"ids", len(ids.seen.ring), keptIDs, room(&ids.seen), 72},
	} {
		if s.kept != s.want || s.bytes > s.kept*s.perCall {
			t.Errorf("%s: %d of %d, %d bytes, %d each", s.name, s.kept, s.want, s.bytes, s.bytes/s.kept)
		}
		total += s.bytes
	}
	if total > 8<<20 {
		t.Errorf("%d bytes for all", total)
	}
}

func room[V any](r *recent[V]) int {
	return cap(r.ring)*int(unsafe.Sizeof(remembered[V]{})) + cap(r.table)*4
}
