package codex

import (
	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/api"
	"github.com/hist-cli/hist/internal/session"
)

// classes are the client's names for errors (codex_error_info up to 0.169, and what public reports show of later ones).
var classes = map[string]session.Class{
	"server_overloaded": session.Transient, "internal_server_error": session.Transient, "response_stream_disconnected": session.Transient,
	"response_too_many_failed_attempts": session.Transient, "http_connection_failed": session.Transient, "response_stream_connection_failed": session.Transient,
	"context_window_exceeded": session.Limit, "session_budget_exceeded": session.Limit, "usage_limit_exceeded": session.Limit,
	"unauthorized": session.Auth, "bad_request": session.BadRequest, "cyber_policy": session.BadRequest,
	"misalignment_policy_violation": session.BadRequest, "rate_limit_exceeded": session.Transient,
}

// waysOf are the classes of what helps against an error, by api.Refusal.Mend; any other that lasts is a refusal of what was sent.
var waysOf = map[string]session.Class{
	"now": session.Transient, "broken": session.Transient, "later": session.Transient, "client": session.Transient, "limit": session.Limit, "shorten": session.Limit, "account": session.Auth,
}

// Classify returns the class of an error, by the client's name for it and by its words; each may be empty. The client calls many
// refusals "other".
func Classify(name, message string) session.Class {
	if c, ok := classes[name]; ok {
		return c
	}
	r := api.Newest(api.Explain(message))
	if r == nil {
		return session.Unknown
	}
	if c, ok := waysOf[r.Mend]; ok {
		return c
	}
	return session.BadRequest
}

// ErrorMessage is the client's message about the error that ended a turn, "" if there is none.
func ErrorMessage(rec *session.Record) string {
	return gjson.GetBytes(Field(rec, FieldError), "message").String()
}
