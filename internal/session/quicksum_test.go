package session

import (
	"hash/maphash"
	"testing"
)

// TestQuick: the hash depends on the bytes alone, not on where they are, and on each of them.
func TestQuickSum(t *testing.T) {
	seed := maphash.MakeSeed()
	for _, n := range []int{0, 1, 7, 127, 128, 129, 4096} {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(i)
		}
		sum := QuickSum(seed, b)
		if again := QuickSum(seed, append([]byte("xyz"), b...)[3:]); again != sum {
			t.Errorf("%d bytes elsewhere have another hash", n)
		}
		seen := map[uint64]int{sum: -1}
		for i := range b {
			b[i] ^= 0x80
			other := QuickSum(seed, b)
			b[i] ^= 0x80
			if at, twice := seen[other]; twice {
				t.Errorf("%d bytes: changes at %d and %d have one hash", n, i, at)
			}
			seen[other] = i
		}
		if QuickSum(maphash.MakeSeed(), b) == sum {
			t.Errorf("%d bytes have one hash with two seeds", n)
		}
	}
}
