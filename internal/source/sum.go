package source

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"sync"
)

const (
	sumChunk      = 256 << 10 // bytes that are collected before another goroutine hashes them
	firstSumChunk = 16 << 10  // the same for the first ones, because most files are short
	sumsAhead     = 4         // the most chunks that wait to be hashed; with several, neither side has to wait for the other to wake up
)

// Sum computes a SHA-256 of what is written to it in another goroutine than the writer's, because that takes as long as everything else that is
// done with the bytes of a session. It is not safe for concurrent use, and need not be closed.
type Sum struct {
	hash  hash.Cloner
	fill  []byte      // the chunk that is being filled
	size  int         // for how many bytes the newest chunk has room
	spare [][]byte    // chunks that were hashed and can be used again
	back  chan []byte // returns chunks when they are hashed
	out   int         // how many chunks have not been returned yet

	mu      sync.Mutex
	queue   [][]byte // chunks to be hashed
	working bool     // a goroutine hashes them
}

// NewSum returns a Sum to which nothing has been written.
func NewSum() *Sum { return beginSum(sha256.New().(hash.Cloner)) }

func beginSum(h hash.Cloner) *Sum { return &Sum{hash: h, back: make(chan []byte, sumsAhead)} }

// Write adds p to the sum. It never fails.
func (s *Sum) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		if s.fill == nil {
			s.size = min(sumChunk, max(firstSumChunk, 4*s.size))
			s.fill = make([]byte, 0, s.size)
		}
		k := copy(s.fill[len(s.fill):cap(s.fill)], p)
		s.fill, p = s.fill[:len(s.fill)+k], p[k:]
		if len(s.fill) == cap(s.fill) {
			s.handOver()
		}
	}
	return n, nil
}

// handOver queues the filled chunk to be hashed, and waits if the queue is full.
func (s *Sum) handOver() {
	s.mu.Lock()
	s.queue = append(s.queue, s.fill)
	idle := !s.working
	s.working = true
	s.mu.Unlock()
	if idle {
		go s.work()
	}
	s.fill = nil
	if s.out++; s.out == sumsAhead {
		s.takeBack()
	}
	if n := len(s.spare); n > 0 {
		s.fill, s.spare = s.spare[n-1][:0], s.spare[:n-1]
	}
}

// work hashes chunks until there are no more.
func (s *Sum) work() {
	for {
		s.mu.Lock()
		if len(s.queue) == 0 {
			s.working = false
			s.mu.Unlock()
			return
		}
		next := s.queue[0]
		s.queue = s.queue[1:]
		s.mu.Unlock()
		s.hash.Write(next)
		s.back <- next // never blocks: the channel has room for all
	}
}

// takeBack waits for a chunk to be returned. Short ones are not used again: larger ones take their place.
func (s *Sum) takeBack() {
	if b := <-s.back; cap(b) == sumChunk {
		s.spare = append(s.spare, b)
	}
	s.out--
}

// Hex returns the hash of everything that was written.
func (s *Sum) Hex() string {
	s.settle()
	return hex.EncodeToString(s.hash.Sum(nil))
}

// Fork returns an independent Sum that begins with everything that was written to s.
func (s *Sum) Fork() *Sum {
	s.settle()
	same, err := s.hash.Clone()
	if err != nil { // only a hash that wraps another can fail
		panic(err)
	}
	return beginSum(same)
}

// settle waits until everything that was written has been hashed.
func (s *Sum) settle() {
	for s.out > 0 {
		s.takeBack()
	}
	s.hash.Write(s.fill)
	s.fill = s.fill[:0]
}

// Tee hashes what it passes on.
type Tee struct {
	To   io.Writer
	Sum  *Sum  // of the bytes that To has accepted
	Size int64 // how many these are
}

// NewTee returns a Tee that passes on to w.
func NewTee(w io.Writer) *Tee { return &Tee{To: w, Sum: NewSum()} }

// Write passes b on; the error is To's.
func (t *Tee) Write(b []byte) (int, error) {
	n, err := t.To.Write(b)
	t.Size += int64(n)
	t.Sum.Write(b[:n])
	return n, err
}
