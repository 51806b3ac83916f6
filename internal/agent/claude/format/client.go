package format

import "github.com/hist-cli/hist/internal/session"

// Shorten is nil: the client reads no record that lacks a member.
func (Decoder) Shorten([]byte, bool) []byte { return nil }

// Weigh is negative: of two values of a key none is known to be better.
func (Decoder) Weigh(*session.Record) int { return -1 }

// MaxDepth is 0: no measured client minds how deep an object is.
func (Decoder) MaxDepth() int { return 0 }

// IsName says whether a member of a session's records holds a name or an id.
func (Decoder) IsName(key []byte) bool {
	switch string(key) {
	case "type", "id", "role", "name", "status", "timestamp", "uuid", "parentUuid", "sessionId", "version", "tool_use_id", "requestId", "subtype":
		return true
	}
	return false
}
