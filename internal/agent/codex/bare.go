package codex

import (
	"encoding/json"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/session"
)

// foreign are members of other agents' records, which the records of a bare session never have.
var foreign = []string{"payload", "uuid", "parentUuid", "parentId", "sessionId"}

func hasAny(line []byte, members []string) bool {
	return slices.ContainsFunc(members, func(m string) bool { return gjson.GetBytes(line, m).Exists() })
}

// BareHeader says whether a line can be the first of a session from before 0.32: {id, timestamp, instructions[, git]}.
func BareHeader(line []byte) bool {
	return gjson.GetBytes(line, "id").Type == gjson.String && gjson.GetBytes(line, "timestamp").Type == gjson.String &&
		!gjson.GetBytes(line, "type").Exists() && !hasAny(line, foreign)
}

// BareItem says whether a line can be one of the naked items after that line, or a record of the client's state.
func BareItem(line []byte) bool {
	known := itemKinds.find([]byte(gjson.GetBytes(line, "type").String())) != nil
	return (known || gjson.GetBytes(line, "record_type").Exists()) && !hasAny(line, foreign)
}

// WrapBare writes a record of a session from before 0.32, which had no envelope, in the form that today's client reads. It
// returns nil for records of the client's state, which hold no history.
func WrapBare(line []byte, timestamp string) []byte {
	if gjson.GetBytes(line, "record_type").Exists() || !gjson.GetBytes(line, "type").Exists() {
		return nil
	}
	payload := line
	if out := gjson.GetBytes(line, "output"); out.IsObject() {
		value := out.Get("content")
		if value.Type == gjson.String || value.IsArray() {
			payload = session.Splice(line, session.SetMember(line, "", "output", []byte(value.Raw)))
		}
	}
	return record(timestamp, nil, "response_item", json.RawMessage(payload))
}
