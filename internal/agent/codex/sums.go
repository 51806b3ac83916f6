package codex

import (
	"encoding/binary"
	"hash/maphash"
	"math/bits"

	"github.com/hist-cli/hist/internal/session"
)

// Rules compare records by hashes. Those of texts that may be long are computed when the record is decoded: only once, however
// often they are compared, and in a long session on several processors.

// seed makes the hashes differ in each run of the program, so that nobody can construct two texts with the same hash.
var seed = maphash.MakeSeed()

// Sum is a hash of bytes, for comparing them with others.
func Sum(b []byte) uint64 { return session.QuickSum(seed, b) }

// SumTime is a hash of a time of a record, with or without its quotes, that costs less than Sum if it is as the client writes it.
func SumTime(written []byte) uint64 {
	if len(written) == len(TimeForm)+2 && written[0] == '"' {
		written = written[1 : len(written)-1]
	}
	if len(written) != len(TimeForm) {
		return Sum(written)
	}
	high, low := bits.Mul64(binary.LittleEndian.Uint64(written)^timeSeeds[0], binary.LittleEndian.Uint64(written[8:])^timeSeeds[1])
	high, low = bits.Mul64(high^low, binary.LittleEndian.Uint64(written[16:])^timeSeeds[2])
	return high ^ low
}

// timeSeeds are to SumTime what seed is to Sum.
var timeSeeds = [...]uint64{maphash.Bytes(seed, []byte{0}), maphash.Bytes(seed, []byte{1}), maphash.Bytes(seed, []byte{2})}

// join combines the hashes of parts into that of the whole.
func join(parts ...uint64) (sum uint64) {
	for _, p := range parts {
		sum = sum*0x9e3779b97f4a7c15 + p
	}
	return sum
}

// nothingSaid is the Said of a record none of whose fields is hashed ahead: a field that is never compared.
const nothingSaid = FieldTimestamp

// say notes the field of a record that other records repeat.
func say(rec *session.Record, field int) {
	rec.SaidSum, rec.Said = SumOf(rec, field), field
}

// SumOf is a hash of the text in a field. It is the same for two texts that are the same between their quotes.
func SumOf(rec *session.Record, field int) uint64 {
	switch {
	case rec.Said == field:
		return rec.SaidSum
	case IsString(rec, field):
		return Sum(Literal(rec, field))
	}
	return ^Sum(Field(rec, field))
}

// PayloadSum is a hash of a record's payload.
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

// RecordSum is a hash of all bytes of a record.
func RecordSum(rec *session.Record) uint64 {
	payload := rec.Spans[FieldPayload]
	return join(Sum(rec.Raw[:payload.Start]), PayloadSum(rec), Sum(rec.Raw[payload.End:]))
}
