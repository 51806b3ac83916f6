package rules

import (
	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/session"
)

// reviews knows whether a review is under way in a legacy session. A review runs in a thread of its own. Its client writes that
// thread's events into the session, too, but not the items that they show (measured with 0.79.0 to 0.145.0).
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
