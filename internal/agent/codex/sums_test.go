package codex

import (
	"fmt"
	"testing"
)

// TestSumTime: times have one hash with their quotes and without, and no two have the same, also if they are not as the client
// writes them.
func TestSumTime(t *testing.T) {
	seen := map[uint64]string{}
	for ms := range 1000 {
		for _, form := range []string{"2026-11-18T09:30:00.%03dZ", "2026-11-18T09:30:00.%03d", "2026-11-18T09:30:00.%03d000Z", "1%03d-11-18T09:30:00.000Z", "2026-11-18T%03d:0:00.000Z"} {
			at := fmt.Sprintf(form, ms)
			sum := SumTime([]byte(at))
			if len(at) == len(TimeForm) && SumTime([]byte(`"`+at+`"`)) != sum {
				t.Errorf("%s has another hash with its quotes", at)
			}
			if other, twice := seen[sum]; twice {
				t.Errorf("%s has the hash of %s", at, other)
			}
			seen[sum] = at
		}
	}
}
