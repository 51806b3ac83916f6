package format

import (
	"bytes"

	"github.com/hist-cli/hist/internal/session"
)

// InTree says whether a record belongs to the tree: it names a parent, or is of a type that does.
func InTree(rec *session.Record) bool {
	if len(Field(rec, FieldParent)) > 0 {
		return true
	}
	typ := Text(rec, FieldType)
	if bytes.IndexByte(typ, '\\') >= 0 {
		typ = []byte(Decoded(rec, FieldType))
	}
	switch string(typ) {
	case "user", "assistant":
		return true
	case "system", "attachment":
		return len(Text(rec, FieldUUID)) > 0
	}
	return false
}

// FromModel says whether a message has members that only an answer of the API has. Clients go by the record's type alone: a
// role that disagrees with it does no harm, but with a wrong type the client mistakes one speaker for the other (measured with
// 2.1.330).
func FromModel(rec *session.Record) bool {
	return len(Field(rec, FieldMessageID)) > 0 || len(Field(rec, FieldModel)) > 0
}
