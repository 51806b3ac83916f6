package codex

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

func quote(s string) json.RawMessage { return jsonl.AppendQuote(nil, s) }

// setOrdinal returns the line with its ordinal set to n. If it has none, the ordinal is inserted after the time stamp, where
// the client writes it. If it has two, the last is set, because that is the one the client reads.
func setOrdinal(line []byte, n int64) []byte {
	value := strconv.AppendInt(nil, n, 10)
	if _, at := ordinalOf(line); at.End > at.Start {
		return session.Splice(line, session.Cut{Start: at.Start, End: at.End, New: value})
	}
	member := append([]byte(`,"ordinal":`), value...)
	if v := gjson.GetBytes(line, "timestamp"); v.Exists() && v.Index > 0 {
		at := v.Index + len(v.Raw)
		return session.Splice(line, session.Cut{Start: at, End: at, New: member})
	}
	return session.Splice(line, session.SetMember(line, "", "ordinal", value))
}

// Renewed is a line with another time and another number.
func Renewed(line []byte, at time.Time, ordinal int64) []byte {
	if v := gjson.GetBytes(line, "timestamp"); v.Index > 0 {
		line = session.Splice(line, session.Cut{Start: v.Index, End: v.Index + len(v.Raw), New: []byte(at.Format(`"` + TimeForm + `"`))})
	}
	return setOrdinal(line, ordinal)
}

// ordinalOf is the ordinal of a line as the decoder reads it, and where it is; an empty span if there is none.
func ordinalOf(line []byte) (session.Ordinal, jsonl.Span) {
	var spans [fieldCount]jsonl.Span
	shape.ScanOne(line, spans[:])
	at := spans[FieldOrdinal]
	return readOrdinal(at.Of(line)), at
}

// BlankID is the cut that replaces the id of the item at parent by as many spaces.
func BlankID(line []byte, parent string) session.Cut { return session.BlankMember(line, parent, "id") }

// WithoutID returns a record whose item has had its id removed.
func WithoutID(record []byte) ([]byte, error) {
	return session.Apply(record, []session.Cut{BlankID(record, "payload")})
}
