package check

import (
	"testing"

	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/session"
)

// Behind an unreadable line that hid several records, what is still missing belongs behind those that were put back.
func TestHoleBehindRestored(t *testing.T) {
	var h Holes
	h.record(&session.Record{Pos: session.Pos{Line: 5}})
	dead := session.Pos{Line: 6}
	h.record(&session.Record{Pos: dead, Kind: session.Unreadable})
	last := session.Pos{Line: 6, Lost: 3}
	h.Restored(dead, last, 3)
	hole := h.Newest(session.Pos{Line: 1}, session.Pos{Line: 7})
	if hole == nil {
		t.Fatal("the hole is gone")
	}
	if e := hole.Insert(finding.Content{Literal: []byte("{}")}); e.At != last || e.Op != finding.After {
		t.Errorf("%+v", e)
	}
}
