package codex

import (
	"slices"

	"github.com/hist-cli/hist/internal/session"
)

// Weigh says how much the client can take from a record: its type first, then what its typed reader needs, then whether it says
// anything.
func (Decoder) Weigh(rec *session.Record) int {
	const read, fits, says = 1 << 8, 1 << 4, 1
	switch {
	case rec.Type == "":
		return 0
	case rec.Kind == session.Header:
		return read + fits - len(HeaderFaults(rec.Raw, Known{}))
	case rec.Type == "response_item" || rec.Type == "event_msg":
		return 1
	}
	w := read
	if Misfit(rec) == "" && (rec.Type != "response_item/message" || slices.Contains(roles, string(rec.Role))) {
		w += fits
	}
	for _, field := range []int{FieldFirstText, FieldOutput, FieldArguments, FieldInput, FieldMessage, FieldItemText, FieldEncrypted} {
		if len(Field(rec, field)) > len(`""`) {
			w += says
		}
	}
	return w
}

// roles are those of the messages that clients write.
var roles = []string{"user", "assistant", "developer", "system"}
