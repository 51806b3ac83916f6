package codex

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/session"
)

// classes are the client's names for errors (codex_error_info up to 0.169).
var classes = map[string]session.Class{
	"server_overloaded": session.Transient, "internal_server_error": session.Transient, "response_stream_disconnected": session.Transient,
	"response_too_many_failed_attempts": session.Transient, "http_connection_failed": session.Transient, "response_stream_connection_failed": session.Transient,
	"context_window_exceeded": session.Limit, "session_budget_exceeded": session.Limit, "usage_limit_exceeded": session.Limit,
	"unauthorized": session.Auth, "bad_request": session.BadRequest, "cyber_policy": session.BadRequest,
}

// phrases show the class of an error that has no name, or whose name is "other". The first that is found counts.
var phrases = []struct {
	words string
	class session.Class
}{
	{"at capacity", session.Transient},
	{"systemerror", session.Transient},
	{"stream disconnected", session.Transient},
	{"high demand", session.Transient},
	{"usage limit", session.Limit},
	{"context window", session.Limit},
	{"ran out of room", session.Limit},
	{"unauthorized", session.Auth},
	{"invalid_request_error", session.BadRequest},
}

// Classify returns the class of an error, by the client's name for it and by its words; each may be empty.
func Classify(name, message string) session.Class {
	if c, ok := classes[name]; ok {
		return c
	}
	message = strings.ToLower(message)
	for _, p := range phrases {
		if strings.Contains(message, p.words) {
			return p.class
		}
	}
	return session.Unknown
}

// ErrorMessage is the client's message about the error that ended a turn, "" if there is none.
func ErrorMessage(rec *session.Record) string {
	return gjson.GetBytes(Field(rec, FieldError), "message").String()
}
