package claude

import (
	"bytes"
	"strings"

	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// keeper stores short texts of records one after the other. Each record has some, all are kept to the end, and an allocation
// for each would cost more than reading them. Nothing that it keeps shares memory with a record.
type keeper struct {
	room  strings.Builder
	names map[string]string // of tools: there are few
}

// textsAtOnce is for how many bytes memory is allocated at a time.
const textsAtOnce = 8 << 10

// keep is a copy of a text.
func (t *keeper) keep(text []byte) string {
	if t.room.Cap()-t.room.Len() < len(text) {
		t.room = strings.Builder{}
		t.room.Grow(max(textsAtOnce, len(text)))
	}
	from := t.room.Len()
	t.room.Write(text)
	return t.room.String()[from:]
}

// decoded is a string field with its escapes resolved, "" if it is absent or no string.
func (t *keeper) decoded(rec *session.Record, f int) string {
	if raw := text(rec, f); bytes.IndexByte(raw, '\\') < 0 {
		return t.keep(raw)
	}
	return decoded(rec, f)
}

// as is decoded for a field that usually has a value which is kept already.
func (t *keeper) as(kept string, rec *session.Record, f int) string {
	if raw := text(rec, f); string(raw) == kept && bytes.IndexByte(raw, '\\') < 0 {
		return kept
	}
	return t.decoded(rec, f)
}

// id is the id of a call, and where in the record it stands.
func (t *keeper) id(v *value, name key, block int) (string, span) {
	m := v.member(name)
	if m == nil {
		return "", span{}
	}
	return t.keep(v.word(name)), spanOf(jsonl.Span{Start: block + m.at, End: block + m.end})
}

// maxNames is how many names of tools are remembered, so that each is stored once.
const maxNames = 1 << 10

// name is that of a tool.
func (t *keeper) name(text []byte) string {
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
