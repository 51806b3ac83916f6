package codex

import (
	"encoding/json"
	"strconv"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// Cut is session.Cut.
type Cut = session.Cut

func quote(s string) []byte { return jsonl.AppendQuote(nil, s) }

func rawJSON(s string) json.RawMessage { return json.RawMessage(s) }

// SetOrdinal returns the line with its ordinal set to n. A line without one gets it behind the time stamp, where the
// client writes it.
func SetOrdinal(line []byte, n int64) []byte {
	value := strconv.AppendInt(nil, n, 10)
	if v := gjson.GetBytes(line, "ordinal"); v.Exists() && v.Index > 0 {
		return session.Splice(line, Cut{Start: v.Index, End: v.Index + len(v.Raw), New: value})
	}
	member := append([]byte(`,"ordinal":`), value...)
	if v := gjson.GetBytes(line, "timestamp"); v.Exists() && v.Index > 0 {
		at := v.Index + len(v.Raw)
		return session.Splice(line, Cut{Start: at, End: at, New: member})
	}
	return session.Splice(line, session.SetMember(line, "", "ordinal", value))
}

// BlankID is the cut that takes the id of the item at parent, and leaves as many spaces.
func BlankID(line []byte, parent string) Cut { return session.BlankMember(line, parent, "id") }

// WithoutID is a record whose item has no id any more.
func WithoutID(record []byte) ([]byte, error) {
	return session.Apply(record, []Cut{BlankID(record, "payload")})
}
