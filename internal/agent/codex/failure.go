package codex

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/session"
)

// Class is what kind of error ended a turn.
type Class = session.Class

// The classes of errors.
const (
	Transient  = session.Transient
	Limit      = session.Limit
	Auth       = session.Auth
	BadRequest = session.BadRequest
	Unknown    = session.Unknown
)

// classes are the client's names for errors (codex_error_info up to 0.169).
var classes = map[string]Class{
	"server_overloaded": Transient, "internal_server_error": Transient, "response_stream_disconnected": Transient,
	"response_too_many_failed_attempts": Transient, "http_connection_failed": Transient, "response_stream_connection_failed": Transient,
	"context_window_exceeded": Limit, "session_budget_exceeded": Limit, "usage_limit_exceeded": Limit,
	"unauthorized": Auth, "bad_request": BadRequest, "cyber_policy": BadRequest,
}

// phrases tell the class of an error that has no name, or "other". The first that is found counts.
var phrases = []struct {
	words string
	class Class
}{
	{"at capacity", Transient},
	{"systemerror", Transient},
	{"stream disconnected", Transient},
	{"high demand", Transient},
	{"usage limit", Limit},
	{"context window", Limit},
	{"ran out of room", Limit},
	{"unauthorized", Auth},
	{"invalid_request_error", BadRequest},
}

// Classify tells the class of an error by the client's name for it and by its words; each may be empty.
func Classify(name, message string) Class {
	if c, ok := classes[name]; ok {
		return c
	}
	message = strings.ToLower(message)
	for _, p := range phrases {
		if strings.Contains(message, p.words) {
			return p.class
		}
	}
	return Unknown
}

// ErrorMessage is what the client says of the error that ended a turn, "" if it names none.
func ErrorMessage(rec *session.Record) string {
	return gjson.GetBytes(Field(rec, FieldError), "message").String()
}
