package jsonl

import (
	"bytes"
	"sync/atomic"
)

const (
	// scannedLines is how many lines of a block are scanned ahead. It is limited
	// because the result takes more room than a very short line.
	scannedLines = 4096
	// maxFlying is how many bytes of long lines are read ahead. Above that,
	// reading waits.
	maxFlying = 24 << 20
)

// Scanned is what a Scanner said of a line.
type Scanned struct {
	Verdict Verdict
	Spans   []Span
}

// Ahead reads the lines of a Reader, and scans them, before they are asked for: one goroutine reads, others scan, and
// Next delivers in the order of the file.
type Ahead struct {
	full chan *batch   // in the order of the lines
	work chan *batch   // to be scanned
	free chan *batch   // to be filled
	stop chan struct{} // closed by Close
	done chan struct{} // closed when the reading has ended

	room   chan []byte   // memory of a long line, to be used for the next one
	flying atomic.Int64  // bytes of long lines that were read and not delivered yet
	landed chan struct{} // gets a value when flying goes down

	batch  *batch // the current one
	next   int    // index of its next line to deliver
	number int64  // of the line that was delivered last
	offset int64  // behind that line
}

// batch is a block of lines on its way.
type batch struct {
	block
	spare   []byte // given to the Reader in exchange for its buffer
	rest    []byte // the bytes that are not cut into lines yet
	lines   []Line // without number and offset
	scanned []Scanned
	spans   []Span
	ready   chan struct{} // gets a value when the lines are scanned
	err     error         // of the Reader, in place of lines
}

// NewAhead reads on from where r is. From then on nobody else may use r. The given number of goroutines scan the lines, at
// least one. The caller must call Close.
func NewAhead(r *Reader, shape *Shape, scanners int) *Ahead {
	batches := 2*scanners + 2
	a := &Ahead{
		full: make(chan *batch, batches), work: make(chan *batch, batches), free: make(chan *batch, batches),
		stop: make(chan struct{}), done: make(chan struct{}), landed: make(chan struct{}, 1), room: make(chan []byte, 1),
		number: r.number, offset: r.offset,
	}
	for range batches {
		a.free <- &batch{spare: make([]byte, len(r.buf)), ready: make(chan struct{}, 1)}
	}
	for range scanners {
		go a.scan(NewScanner(shape))
	}
	go a.read(r)
	return a
}

// Close stops the reading and waits until it has stopped. Then the source can be closed.
func (a *Ahead) Close() {
	close(a.stop)
	<-a.done
}

// Next returns the next line and what a Scanner says of it, nil if it was not scanned ahead. Both are valid until the
// next call. The error is the Reader's.
func (a *Ahead) Next() (Line, *Scanned, error) {
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
	var scanned *Scanned
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
func (a *Ahead) giveBack(b *batch) {
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
func (a *Ahead) keep(room []byte) {
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
func (a *Ahead) read(r *Reader) {
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
		var b *batch
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
func (a *Ahead) scan(s *Scanner) {
	defer s.Done()
	for b := range a.work {
		b.rest = b.text
		b.cut()
		if need := s.paths * len(b.lines); cap(b.spans) < need {
			b.spans = make([]Span, need+need/4)
		}
		b.scanned = b.scanned[:0]
		for i, l := range b.lines {
			spans := b.spans[i*s.paths : (i+1)*s.paths : (i+1)*s.paths]
			b.scanned = append(b.scanned, Scanned{s.Scan(l.Raw, spans), spans})
		}
		b.ready <- struct{}{}
	}
}

// cut finds the lines of the rest, as many as are scanned ahead.
func (b *batch) cut() {
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
