package codex

import (
	"encoding/json"
	"strconv"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

func quote(s string) []byte { return jsonl.AppendQuote(nil, s) }

func rawJSON(s string) json.RawMessage { return json.RawMessage(s) }

// setOrdinal returns the line with its ordinal set to n. A line without one gets it behind the time stamp, where the
// client writes it. Of two the last is set: the client reads that one.
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

// ordinalOf is the ordinal that a line has for the decoder, and where it stands; an empty span if it has none.
func ordinalOf(line []byte) (session.Ordinal, jsonl.Span) {
	var spans [fieldCount]jsonl.Span
	shape.ScanOne(line, spans[:])
	at := spans[FieldOrdinal]
	return readOrdinal(at.Of(line)), at
}

// BlankID is the cut that takes the id of the item at parent, and leaves as many spaces.
func BlankID(line []byte, parent string) session.Cut { return session.BlankMember(line, parent, "id") }

// WithoutID is a record whose item has no id any more.
func WithoutID(record []byte) ([]byte, error) {
	return session.Apply(record, []session.Cut{BlankID(record, "payload")})
}
