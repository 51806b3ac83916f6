package format

import (
	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/session"
)

// Weigh counts what the client needs of a record.
func (Decoder) Weigh(rec *session.Record) int {
	w := session.Tells(gjson.ParseBytes(rec.Raw), needed, neededIn)
	if rec.Type != "" {
		w++
	}
	return w
}

// Doubled is the offset of a key that stands twice in a block. Of a single block, the scanner compares the keys.
func (Decoder) Doubled(rec *session.Record) int {
	content := rec.Spans[FieldContent]
	if content.End == 0 || rec.Raw[content.Start] != '[' || rec.Spans[FieldBlock].End+1 >= content.End {
		return -1
	}
	if at := session.DoubledInList(content.Of(rec.Raw)); at >= 0 {
		return content.Start + at
	}
	return -1
}

// IsName says whether a member of a session's records holds a name or an id.
func (Decoder) IsName(key []byte) bool {
	switch string(key) {
	case "type", "id", "role", "name", "status", "timestamp", "uuid", "parentUuid", "sessionId", "version", "tool_use_id", "requestId", "subtype":
		return true
	}
	return false
}
