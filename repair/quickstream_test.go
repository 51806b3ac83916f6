package repair

import (
	"bytes"
	"hash/maphash"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestQuickStream: the hash is that of the bytes, in whatever parts they come, and is another when any of them is changed, is missing, or has
// another place.
func TestQuickStream(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	seed := maphash.MakeSeed()
	sum := func(text []byte) uint64 {
		q := quickStream{Seed: seed}
		for len(text) > 0 {
			n := min(len(text), 1+rng.IntN([]int{3, 200, streamPiece + 2, 5 * streamPiece}[rng.IntN(4)]))
			part := bytes.Clone(text[:n])
			q.Write(part)
			clear(part) // it is the writer's again
			text = text[n:]
		}
		return q.Sum64()
	}
	for _, size := range []int{0, 1, 100, streamPiece - 1, streamPiece, streamPiece + 1, 3 * streamPiece, 5*streamPiece + 77} {
		text := make([]byte, size)
		for i := range text {
			text[i] = byte(rng.Uint32())
		}
		want := sum(text)
		for range 30 {
			if sum(text) != want {
				t.Fatalf("%d bytes: other parts, another hash", size)
			}
		}
		other := func(what string, text []byte) {
			if sum(text) == want {
				t.Errorf("%d bytes: the same hash with %s", size, what)
			}
		}
		other("a byte more", append(bytes.Clone(text), 0))
		for _, at := range []int{0, 1, 127, 128, size / 2, streamPiece - 1, streamPiece, 2*streamPiece - 1, 2 * streamPiece, size - 2, size - 1} {
			if at < 0 || at >= size {
				continue
			}
			changed := bytes.Clone(text)
			changed[at] ^= 1
			other("another byte", changed)
			other("a byte less", slices.Delete(bytes.Clone(text), at, at+1))
		}
		if size >= 3*streamPiece {
			other("two pieces exchanged", slices.Concat(text[streamPiece:2*streamPiece], text[:streamPiece], text[2*streamPiece:]))
			other("a piece less", text[streamPiece:])
			other("a piece twice", slices.Concat(text[:streamPiece], text))
		}
	}
}
