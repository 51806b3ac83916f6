package repair

import (
	"hash/maphash"
	"unsafe"
)

// pieceSize is how many bytes are hashed in one call. maphash.Hash takes 128 at a time, which is several times slower.
const pieceSize = 16 << 10

// quick is a fast hash of a stream that is written in parts of any length. It is valid in this process only.
type quick struct {
	seed maphash.Seed
	sum  uint64 // of the pieces so far
	rest []byte // what follows them, less than a piece
}

func (q *quick) Write(b []byte) {
	if n := len(q.rest); n > 0 {
		k := min(len(b), pieceSize-n)
		q.rest, b = append(q.rest, b[:k]...), b[k:]
		if len(q.rest) < pieceSize {
			return
		}
		q.sum, q.rest = q.with(q.rest), q.rest[:0]
	}
	for ; len(b) >= pieceSize; b = b[pieceSize:] {
		q.sum = q.with(b[:pieceSize])
	}
	q.rest = append(q.rest, b...)
}

// Sum64 is the hash of everything that was written.
func (q *quick) Sum64() uint64 { return q.with(q.rest) }

// with is the sum if one more piece follows.
func (q *quick) with(piece []byte) uint64 {
	// The text is not kept, so it does not matter that the bytes change later.
	text := unsafe.String(unsafe.SliceData(piece), len(piece))
	return maphash.Comparable(q.seed, [2]uint64{q.sum, maphash.Comparable(q.seed, text)})
}
