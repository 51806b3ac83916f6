package jsonl

import (
	"bytes"
	"sync/atomic"
)

const (
	// scannedLines is how many lines of a block are scanned ahead. It is limited
	// because the result takes more room than a very short line.
	scannedLines = 2048
	// maxFlying is how many bytes of long lines are read ahead. Above that,
	// reading waits.
	maxFlying = 24 << 20
)

// Scanned is what a Scanner said of a line, and what was made of the line by that.
type Scanned[M any] struct {
	Verdict Verdict
	Spans   []Span
	Made    M
}

// Ahead reads the lines of a Reader, scans them, and makes an M of each, before they are asked for: one goroutine reads,
// others scan, and Next delivers in the order of the file.
type Ahead[M any] struct {
	shape *Shape
	then  func(line []byte, s *Scanned[M])

	full chan *batch[M] // in the order of the lines
	work chan *batch[M] // to be scanned
	free chan *batch[M] // to be filled
	stop chan struct{}  // closed by Close
	done chan struct{}  // closed when the reading has ended

	room   chan []byte   // memory of a long line, to be used for the next one
	flying atomic.Int64  // bytes of long lines that were read and not delivered yet
	landed chan struct{} // gets a value when flying goes down

	batch  *batch[M] // the current one
	next   int       // index of its next line to deliver
	number int64     // of the line that was delivered last
	offset int64     // behind that line
}

// batch is a block of lines on its way.
type batch[M any] struct {
	block
	spare   []byte // given to the Reader in exchange for its buffer
	rest    []byte // the bytes that are not cut into lines yet
	lines   []Line // without number and offset
	scanned []Scanned[M]
	spans   []Span
	ready   chan struct{} // gets a value when the lines are scanned
	err     error         // of the Reader, in place of lines
}

// NewAhead reads on from where r is. From then on nobody else may use r. The given number of goroutines, at least one, scan
// the lines and call then for each, which fills s.Made: that may still hold what was made of an earlier line. The caller
// must call Close.
func NewAhead[M any](r *Reader, shape *Shape, scanners int, then func(line []byte, s *Scanned[M])) *Ahead[M] {
	batches := 2*scanners + 2
	a := &Ahead[M]{
		shape: shape, then: then,
		full: make(chan *batch[M], batches), work: make(chan *batch[M], batches), free: make(chan *batch[M], batches),
		stop: make(chan struct{}), done: make(chan struct{}), landed: make(chan struct{}, 1), room: make(chan []byte, 1),
		number: r.number, offset: r.offset,
	}
	for range batches {
		a.free <- &batch[M]{spare: make([]byte, len(r.buf)), ready: make(chan struct{}, 1)}
	}
	for range scanners {
		go a.scan()
	}
	go a.read(r)
	return a
}

// Close stops the reading and waits until it has stopped. Then the source can be closed.
func (a *Ahead[M]) Close() {
	close(a.stop)
	<-a.done
}

// Next returns the next line and what a Scanner says of it, nil if it was not scanned ahead. Both are valid until the
// next call. The error is the Reader's.
func (a *Ahead[M]) Next() (Line, *Scanned[M], error) {
	for a.batch == nil || a.next == len(a.batch.lines) {
		if b := a.batch; b != nil {
			if b.err != nil {
				return Line{}, nil, b.err
			}
			if len(b.rest) > 0 {
				b.cut()
				b.scanned, a.next = b.scanned[:0], 0
				continue
			}
			a.giveBack(b)
		}
		a.batch, a.next = <-a.full, 0
		<-a.batch.ready
	}
	line := a.batch.lines[a.next]
	var scanned *Scanned[M]
	if a.next < len(a.batch.scanned) {
		scanned = &a.batch.scanned[a.next]
	}
	a.next++
	a.number++
	line.Number, line.Offset = a.number, a.offset
	a.offset += int64(len(line.Raw)) + line.Passed
	if line.Terminated {
		a.offset++
	}
	return line, scanned, nil
}

// giveBack lets a batch be filled again. Before another long line may be read, the memory of this one is kept for it.
func (a *Ahead[M]) giveBack(b *batch[M]) {
	if b.long {
		size := len(b.text)
		a.keep(b.text[:0])
		b.block, b.lines = block{}, nil
		a.flying.Add(-int64(size))
		select {
		case a.landed <- struct{}{}:
		default:
		}
	}
	a.free <- b
}

// keep keeps memory for the next long line: this, or what is kept already if that is larger.
func (a *Ahead[M]) keep(room []byte) {
	select {
	case left := <-a.room:
		if cap(left) > cap(room) {
			room = left
		}
	default:
	}
	a.room <- room // nobody else puts anything there
}

// read fills batches until the Reader ends.
func (a *Ahead[M]) read(r *Reader) {
	defer close(a.done)
	defer close(a.work)
	for {
		for a.flying.Load() > maxFlying {
			select {
			case <-a.landed:
			case <-a.stop:
				return
			}
		}
		var b *batch[M]
		select {
		case b = <-a.free:
		case <-a.stop:
			return
		}
		if r.spill == nil {
			select {
			case r.spill = <-a.room:
			default:
			}
		}
		b.block, b.err = r.block(&b.spare)
		if b.long {
			a.flying.Add(int64(len(b.text)))
		} else {
			r.drop(largeSpill)
		}
		a.full <- b // there is room for every batch
		a.work <- b
		if b.err != nil {
			return
		}
	}
}

// scan cuts batches into lines and scans them until there are no more.
func (a *Ahead[M]) scan() {
	s := NewScanner(a.shape)
	defer s.Done()
	for b := range a.work {
		b.rest = b.text
		b.cut()
		if need := s.paths * len(b.lines); cap(b.spans) < need {
			b.spans = make([]Span, need+need/4)
		}
		if need := len(b.lines); cap(b.scanned) < need {
			b.scanned = make([]Scanned[M], need, need+need/4)
		}
		b.scanned = b.scanned[:len(b.lines)]
		for i, l := range b.lines {
			one := &b.scanned[i]
			one.Spans = b.spans[i*s.paths : (i+1)*s.paths : (i+1)*s.paths]
			one.Verdict = s.Scan(l.Raw, one.Spans)
			a.then(l.Raw, one)
		}
		b.ready <- struct{}{}
	}
}

// cut finds the lines of the rest, as many as are scanned ahead.
func (b *batch[M]) cut() {
	b.lines = b.lines[:0]
	if b.long {
		b.lines, b.rest = append(b.lines, Line{Raw: b.text, Terminated: !b.open, Passed: b.passed}), nil
		return
	}
	for len(b.rest) > 0 && len(b.lines) < scannedLines {
		n := bytes.IndexByte(b.rest, '\n')
		if n < 0 {
			b.lines, b.rest = append(b.lines, Line{Raw: b.rest}), nil
			return
		}
		b.lines, b.rest = append(b.lines, Line{Raw: b.rest[:n:n], Terminated: true}), b.rest[n+1:]
	}
}
