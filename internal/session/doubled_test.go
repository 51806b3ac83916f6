package session

import (
	"strings"
	"testing"
)

// TestDoubledInList: a second key is found as deep as clients write lists, and what is deeper costs no more.
func TestDoubledInList(t *testing.T) {
	nested := func(depth int, inner string) string {
		return strings.Repeat(`[{"a":`, depth) + inner + strings.Repeat(`}]`, depth)
	}
	for text, want := range map[string]int{
		`[{"a":1,"b":2}]`:            -1,
		`[{"a":1,"a":2}]`:            8,
		`[1,"x",{"a":1}]`:            -1,
		nested(3, `[{"b":1,"b":2}]`): 26,
		nested(5, `[{"b":1,"b":2}]`): -1,
	} {
		if got := DoubledInList([]byte(text)); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}
