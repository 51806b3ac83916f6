package repair

import (
	"hash/maphash"

	"github.com/hist-cli/hist/internal/session"
)

// streamPiece is how many bytes of a stream are hashed in one call.
const streamPiece = 16 << 10

// quickStream is a quick hash of a stream that is written in parts of any length. The zero value lacks its Seed.
type quickStream struct {
	Seed maphash.Seed

	sum  uint64 // of the pieces so far
	rest []byte // what follows them, less than a piece
}

// Write adds b, which may change afterwards.
func (s *quickStream) Write(b []byte) {
	if n := len(s.rest); n > 0 {
		k := min(len(b), streamPiece-n)
		s.rest, b = append(s.rest, b[:k]...), b[k:]
		if len(s.rest) < streamPiece {
			return
		}
		s.sum, s.rest = s.with(s.rest), s.rest[:0]
	}
	for ; len(b) >= streamPiece; b = b[streamPiece:] {
		s.sum = s.with(b[:streamPiece])
	}
	s.rest = append(s.rest, b...)
}

// Sum64 is the hash of everything that was written.
func (s *quickStream) Sum64() uint64 { return s.with(s.rest) }

// with is the sum if one more piece follows.
func (s *quickStream) with(piece []byte) uint64 {
	return maphash.Comparable(s.Seed, [2]uint64{s.sum, session.QuickSum(s.Seed, piece)})
}
