package rules

import (
	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/session"
)

// reviews follows whether a review is under way in a legacy session. One runs in a thread of its own, whose events its client
// writes into the session, too, without the items that they show (measured with 0.79.0 to 0.145.0).
type reviews struct{ open bool }

func (r *reviews) see(rec *session.Record) {
	if rec.Kind != session.Other || rec.Type != "event_msg" {
		return
	}
	switch string(codex.Text(rec, codex.FieldPayloadType)) {
	case "entered_review_mode":
		r.open = true
	case "exited_review_mode":
		r.open = false
	}
}
