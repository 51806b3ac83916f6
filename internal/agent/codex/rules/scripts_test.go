package rules

import (
	"strings"
	"testing"

	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/session"
)

// TestTogether: results of scripts that only the client's database holds are told in one call where nobody knows what parted
// them, and in two where something is known to stand between them, or one output would be longer than clients send.
func TestTogether(t *testing.T) {
	lost := func(nth int32, ordinal int64, size int) *session.Record {
		rec := &session.Record{Pos: session.Pos{Line: 7, Lost: nth}, Raw: []byte(strings.Repeat("x", size))}
		rec.Ordinal.Value = ordinal
		return rec
	}
	for _, c := range []struct {
		name          string
		second        *session.Record
		apart, loose  bool
		goesOn        bool
		before, parts int
	}{
		{"the next number", lost(2, 11, 100), false, false, true, 0, 0},
		{"with the count of tokens between them", lost(2, 12, 100), false, false, true, 0, 0},
		{"an output and a call between them", lost(2, 14, 100), false, false, true, 1, 1},
		{"an answer between them", lost(2, 14, 100), true, false, false, 0, 0},
		{"too much for one output", lost(2, 14, maxTogether), false, false, false, 0, 0},
		{"numbers that go back", lost(2, 9, 100), false, false, false, 0, 0},
		{"the first stands in the file", lost(1, 14, 100), false, true, false, 0, 0},
	} {
		s := scripts{number: 10, apart: c.apart, loose: []witness{{ref: finding.RefOf(lost(1, 10, 100))}}}
		if c.loose {
			s.loose[0].ref.Pos.Lost = 0
		}
		if got := s.goesOn(c.second); got != c.goesOn || len(s.before) != c.before || s.parts != c.parts {
			t.Errorf("%s: goes on %v with %d before in %d parts, want %v with %d in %d", c.name, got, len(s.before), s.parts, c.goesOn, c.before, c.parts)
		}
	}
}
