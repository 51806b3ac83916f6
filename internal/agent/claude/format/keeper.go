package format

import (
	"bytes"
	"strings"

	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// Keeper stores short texts of records one after the other. Each record has some, all are kept to the end, and an allocation
// for each would cost more than reading them. Nothing that it keeps shares memory with a record.
type Keeper struct {
	room  strings.Builder
	names map[string]string // of tools: there are few
}

// textsAtOnce is for how many bytes memory is allocated at a time.
const textsAtOnce = 8 << 10

// keep is a copy of a text.
func (t *Keeper) keep(text []byte) string {
	if t.room.Cap()-t.room.Len() < len(text) {
		t.room = strings.Builder{}
		t.room.Grow(max(textsAtOnce, len(text)))
	}
	from := t.room.Len()
	t.room.Write(text)
	return t.room.String()[from:]
}

// Decoded is a string field with its escapes resolved, "" if it is absent or no string.
func (t *Keeper) Decoded(rec *session.Record, f int) string {
	if raw := Text(rec, f); bytes.IndexByte(raw, '\\') < 0 {
		return t.keep(raw)
	}
	return Decoded(rec, f)
}

// As is decoded for a field that usually has a value which is kept already.
func (t *Keeper) As(kept string, rec *session.Record, f int) string {
	if raw := Text(rec, f); string(raw) == kept && bytes.IndexByte(raw, '\\') < 0 {
		return kept
	}
	return t.Decoded(rec, f)
}

// ID is the id of a call, and where in the record it stands.
func (t *Keeper) ID(v *Value, name Key, block int) (string, Span) {
	m := v.member(name)
	if m == nil {
		return "", Span{}
	}
	return t.keep(v.Word(name)), SpanOf(jsonl.Span{Start: block + m.At, End: block + m.end})
}

// maxNames is how many names of tools are remembered, so that each is stored once.
const maxNames = 1 << 10

// Name is that of a tool.
func (t *Keeper) Name(text []byte) string {
	name, known := t.names[string(text)]
	if known {
		return name
	}
	if t.names == nil {
		t.names = map[string]string{}
	}
	name = t.keep(text)
	if len(t.names) < maxNames {
		t.names[name] = name
	}
	return name
}
