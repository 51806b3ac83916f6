package codex

import (
	"hash/maphash"

	"github.com/hist-cli/hist/internal/session"
)

// Rules tell by hashes whether two records say the same. Those of what may be long are taken when the record is decoded:
// once, whatever it is compared with, and in a long session on several processors.

// seed makes the hashes of each run of the program others, so that nobody can plan two texts with the same.
var seed = maphash.MakeSeed()

// Sum stands for bytes where they are compared with others.
func Sum(b []byte) uint64 { return maphash.Bytes(seed, b) }

// join makes the sum of a whole from those of its parts.
func join(parts ...uint64) (sum uint64) {
	for _, p := range parts {
		sum = sum*0x9e3779b97f4a7c15 + p
	}
	return sum
}

// nothingSaid is a field that is never compared: Said of a record in which none is summed ahead.
const nothingSaid = FieldTimestamp

// say notes the field in which a record says what other records repeat.
func say(rec *session.Record, field int) {
	rec.SaidSum, rec.Said = SumOf(rec, field), field
}

// SumOf stands for what a field says. Two texts have the same if the same stands between their quotes.
func SumOf(rec *session.Record, field int) uint64 {
	switch {
	case rec.Said == field:
		return rec.SaidSum
	case IsString(rec, field):
		return Sum(Literal(rec, field))
	}
	return ^Sum(Field(rec, field))
}

// PayloadSum stands for a record's payload.
func PayloadSum(rec *session.Record) uint64 {
	if rec.Sum != 0 {
		return rec.Sum
	}
	payload, said := rec.Spans[FieldPayload], rec.Spans[rec.Said]
	if rec.Said == nothingSaid || said.Start < payload.Start || said.End > payload.End {
		rec.Sum = Sum(payload.Of(rec.Raw))
	} else {
		rec.Sum = join(Sum(rec.Raw[payload.Start:said.Start]), rec.SaidSum, Sum(rec.Raw[said.End:payload.End]))
	}
	return rec.Sum
}

// RecordSum stands for all bytes of a record.
func RecordSum(rec *session.Record) uint64 {
	payload := rec.Spans[FieldPayload]
	return join(Sum(rec.Raw[:payload.Start]), PayloadSum(rec), Sum(rec.Raw[payload.End:]))
}
