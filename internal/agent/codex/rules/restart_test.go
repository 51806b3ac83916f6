package rules

import (
	"testing"

	"github.com/hist-cli/hist/internal/check"
)

// TestWakesThatAreKept: which of too many wake messages are kept hangs on their order, not on chance.
func TestWakesThatAreKept(t *testing.T) {
	c := newRestartChecker(&run{opts: &check.Options{}})
	for n := range uint64(maxWakes - 2) {
		c.wakes[n] = int64(n)
	}
	for n := range uint64(1000) {
		c.newer[1<<20+n] = int64(5000 - n)
	}
	c.age()
	for n := range uint64(1000) {
		if _, kept := c.wakes[1<<20+n]; kept != (n >= 998) {
			t.Errorf("the one on line %d is kept: %v", 5000-n, kept)
		}
	}
	if len(c.newer) != 0 {
		t.Error("they are new still")
	}
}
