package source

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"math/rand/v2"
	"testing"
)

// TestSum: the sum is that of the bytes, in whatever pieces they come, and can be asked for in between.
func TestSum(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		s, all := NewSum(), []byte{}
		for range rng.IntN(40) {
			piece := make([]byte, rng.IntN(2)*rng.IntN(3*sumChunk)+rng.IntN(100))
			for i := range piece {
				piece[i] = byte(rng.Uint32())
			}
			n, err := s.Write(piece)
			if n != len(piece) || err != nil {
				t.Fatal(n, err)
			}
			all = append(all, piece...)
			clear(piece) // it is the writer's again
			switch rng.IntN(8) {
			case 0:
				check(t, s, all)
			case 1:
				fork := s.Fork()
				fork.Write([]byte("other"))
				check(t, fork, append(bytes.Clone(all), "other"...))
			}
		}
		check(t, s, all)
	}
}

func check(t *testing.T, s *Sum, all []byte) {
	t.Helper()
	want := sha256.Sum256(all)
	if got := s.Hex(); got != hex.EncodeToString(want[:]) {
		t.Fatalf("%d bytes: %s, want %x", len(all), got, want)
	}
}

// TestTee: what the writer did not take is not in the sum.
func TestTee(t *testing.T) {
	tee := NewTee(full{3})
	if n, err := tee.Write([]byte("abcdef")); n != 3 || err == nil || tee.Size != 3 {
		t.Errorf("%d, %v, %d", n, err, tee.Size)
	}
	check(t, tee.Sum, []byte("abc"))
}

type full struct{ room int }

func (f full) Write(b []byte) (int, error) { return f.room, io.ErrShortWrite }
