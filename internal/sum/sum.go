// Package sum hashes what is written to it beside the work of whoever writes: SHA-256 takes as long as all else that is
// done with the bytes of a session. In: bytes. Out: their sum in lower-case hexadecimal.
package sum

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
)

// chunk is how many bytes are gathered before another goroutine hashes them.
const chunk = 256 << 10

// Sum is a SHA-256 in the making. It is not safe for concurrent use, and needs no closing.
type Sum struct {
	hash hash.Cloner
	fill []byte      // what is gathered
	busy chan []byte // gives back what was hashed last
}

// New returns the sum of nothing.
func New() *Sum { return &Sum{hash: sha256.New().(hash.Cloner)} }

// Write adds p to the sum. It never fails.
func (s *Sum) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		if s.fill == nil {
			s.fill = make([]byte, 0, chunk)
		}
		k := copy(s.fill[len(s.fill):cap(s.fill)], p)
		s.fill, p = s.fill[:len(s.fill)+k], p[k:]
		if len(s.fill) == cap(s.fill) {
			s.handOver()
		}
	}
	return n, nil
}

// handOver has what is gathered hashed, when what was handed over before is.
func (s *Sum) handOver() {
	full := s.fill
	if s.busy == nil {
		s.busy, s.fill = make(chan []byte, 1), nil
	} else {
		s.fill = (<-s.busy)[:0]
	}
	go func() {
		s.hash.Write(full)
		s.busy <- full
	}()
}

// Hex is the sum of all that was written.
func (s *Sum) Hex() string {
	s.settle()
	return hex.EncodeToString(s.hash.Sum(nil))
}

// Fork returns a sum of its own that begins with all that was written to s.
func (s *Sum) Fork() *Sum {
	s.settle()
	same, err := s.hash.Clone()
	if err != nil { // only a hash that wraps another can fail
		panic(err)
	}
	return &Sum{hash: same}
}

// settle has all hashed that was written.
func (s *Sum) settle() {
	if s.busy != nil {
		full := <-s.busy
		s.busy <- full
	}
	s.hash.Write(s.fill)
	s.fill = s.fill[:0]
}

// Tee hashes what it passes on.
type Tee struct {
	To   io.Writer
	Sum  *Sum  // of what To took
	Size int64 // its length in bytes
}

// NewTee passes on to w.
func NewTee(w io.Writer) *Tee { return &Tee{To: w, Sum: New()} }

// Write passes b on; the error is To's.
func (t *Tee) Write(b []byte) (int, error) {
	n, err := t.To.Write(b)
	t.Size += int64(n)
	t.Sum.Write(b[:n])
	return n, err
}
