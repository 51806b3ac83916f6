package jsonl

import (
	"bytes"
	"runtime"
	"sync"
	"sync/atomic"
)

const (
	// scannedLines is how many lines of a block are scanned ahead. It is limited
	// because the result takes more room than a very short line.
	scannedLines = 2048
	// maxFlying is how many bytes of long lines are read ahead. Above that,
	// reading waits.
	maxFlying = 24 << 20
	// patience is how often a goroutine lets others go first before it sleeps: what it waits for mostly takes less time
	// than to be woken.
	patience = 600
)

// Scanned is what a Scanner said of a line, and what was made of the line by that.
type Scanned[M any] struct {
	Verdict Verdict
	Spans   []Span
	Made    M
}

// A Maker is called for each line that was scanned, and fills s.Made, which may still hold what was made of an earlier line.
type Maker[M any] func(line []byte, s *Scanned[M])

// Ahead reads the lines of a Reader, scans them, and makes an M of each, before they are asked for, and Next delivers in the
// order of the file. Who reads a block also scans it, while the processor's cache has it: goroutines of its own do that, and
// the caller of Next while it would have to wait for them.
type Ahead[M any] struct {
	shape *Shape
	maker func() Maker[M]

	full chan *batch[M] // in the order of the lines
	free chan *batch[M] // to be filled
	stop chan struct{}  // closed by Close

	reading sync.Mutex // held by the one who reads
	reader  *Reader
	ended   bool // nothing more is to be read

	room   chan []byte   // memory of a long line, to be used for the next one
	flying atomic.Int64  // bytes of long lines that were read and not delivered yet
	landed chan struct{} // gets a value when flying goes down

	scanner *Scanner    // of the caller of Next
	make    Maker[M]    // and this, too
	spent   []*batch[M] // delivered and not free yet
	many    int         // how many are freed at once, because it takes time to wake a goroutine that waits for one
	coming  *batch[M]   // the one behind the current one, nil if that was not read yet
	batch   *batch[M]   // the current one
	next    int         // index of its next line to deliver
	number  int64       // of the line that was delivered last
	offset  int64       // behind that line
}

// batch is a block of lines on its way.
type batch[M any] struct {
	block
	buf     []byte // that the Reader fills
	rest    []byte // the bytes that are not cut into lines yet
	lines   []Line // without number and offset
	scanned []Scanned[M]
	spans   []Span
	ready   chan struct{} // gets a value when the lines are scanned
	err     error         // of the Reader, in place of lines
}

// NewAhead reads on from where r is. From then on nobody else may use r. So many goroutines as scanners, the caller of Next
// among them, which uses own, scan the lines, each with a Maker of its own. Even one alone is worth it: a processor that scans many
// lines in a row, and then does many times what is done with one, is faster than if it changes between the two. The caller must call
// Close.
func NewAhead[M any](r *Reader, own *Scanner, scanners int, maker func() Maker[M]) *Ahead[M] {
	batches := 2*scanners + 2
	if scanners == 1 {
		batches = 1 // so that its memory stays in the processor's cache
	}
	a := &Ahead[M]{
		shape: own.shape, maker: maker, reader: r, scanner: own, make: maker(), many: scanners,
		full: make(chan *batch[M], batches), free: make(chan *batch[M], batches), stop: make(chan struct{}),
		landed: make(chan struct{}, 1), room: make(chan []byte, 1),
		number: r.number, offset: r.offset,
	}
	for range batches {
		a.free <- &batch[M]{buf: make([]byte, len(r.buf)), ready: make(chan struct{}, 1)}
	}
	for range scanners - 1 {
		go a.work()
	}
	return a
}

// Close stops the reading and waits until it has stopped. Then the source can be closed.
func (a *Ahead[M]) Close() {
	close(a.stop)
	a.reading.Lock()
	a.ended = true
	a.reading.Unlock()
}

// Next fills line with the next one, and returns what a Scanner says of it, nil if it was not scanned ahead. Both are valid until
// the next call. The error is the Reader's.
func (a *Ahead[M]) Next(line *Line) (*Scanned[M], error) {
	for a.batch == nil || a.next == len(a.batch.lines) {
		if b := a.batch; b != nil {
			if b.err != nil {
				return nil, b.err
			}
			if len(b.rest) > 0 {
				b.cut()
				b.scanned, a.next = b.scanned[:0], 0
				continue
			}
			a.giveBack(b)
		}
		a.batch, a.next = a.await(), 0
	}
	next := &a.batch.lines[a.next]
	line.Raw, line.Terminated, line.Passed = next.Raw, next.Terminated, next.Passed
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
	return scanned, nil
}

// await returns the next batch once it is scanned. While it is not, a later one is read and scanned here.
func (a *Ahead[M]) await() *batch[M] {
	for tries := 0; tries < patience; tries++ {
		if a.coming == nil {
			select {
			case a.coming = <-a.full:
			default:
			}
		}
		if a.coming != nil && len(a.coming.ready) > 0 {
			break
		}
		if a.help() {
			tries = 0
		} else {
			runtime.Gosched()
		}
	}
	if a.coming == nil {
		a.coming = <-a.full
	}
	b := a.coming
	<-b.ready
	a.coming = nil
	return b
}

// help reads and scans a batch, if there is a free one and nobody reads.
func (a *Ahead[M]) help() bool {
	if a.flying.Load() > maxFlying || !a.reading.TryLock() {
		a.release()
		return false
	}
	b := a.pick()
	read := b != nil && a.read(b)
	a.reading.Unlock()
	if read {
		a.scan(a.scanner, a.make, b)
	}
	return read
}

// pick returns a batch that is free, if there is one: the newest that was delivered, which the processor's cache still has.
func (a *Ahead[M]) pick() (b *batch[M]) {
	if n := len(a.spent); n > 0 {
		a.spent, b = a.spent[:n-1], a.spent[n-1]
		return b
	}
	select {
	case b = <-a.free:
	default:
	}
	return b
}

// giveBack lets a batch be filled again. Before another long line may be read, the memory of this one is kept for it.
func (a *Ahead[M]) giveBack(b *batch[M]) {
	long := b.long
	if long {
		size := len(b.text)
		a.keep(b.text[:0])
		b.block, b.lines = block{}, nil
		a.flying.Add(-int64(size))
		select {
		case a.landed <- struct{}{}:
		default:
		}
	}
	if a.spent = append(a.spent, b); long || len(a.spent) >= a.many {
		a.release()
	}
}

// release frees the batches that are spent.
func (a *Ahead[M]) release() {
	for _, b := range a.spent {
		a.free <- b // there is room for every batch
	}
	a.spent = a.spent[:0]
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

// work reads and scans batches until there are no more.
func (a *Ahead[M]) work() {
	s, m := NewScanner(a.shape), a.maker()
	defer s.Done()
	for {
		var b *batch[M]
		select {
		case b = <-a.free:
		case <-a.stop:
			return
		}
		a.lock()
		read := a.landing() && a.read(b)
		a.reading.Unlock()
		if !read {
			return
		}
		a.scan(s, m, b)
	}
}

// lock takes reading.
func (a *Ahead[M]) lock() {
	for range patience {
		if a.reading.TryLock() {
			return
		}
		runtime.Gosched()
	}
	a.reading.Lock()
}

// landing waits while too many long lines are on their way, and says whether to read on.
func (a *Ahead[M]) landing() bool {
	for a.flying.Load() > maxFlying {
		select {
		case <-a.landed:
		case <-a.stop:
			return false
		}
	}
	return true
}

// read fills a batch, unless all was read. Who calls it holds reading.
func (a *Ahead[M]) read(b *batch[M]) bool {
	if a.ended {
		return false
	}
	r := a.reader
	if r.spill == nil {
		select {
		case r.spill = <-a.room:
		default:
		}
	}
	b.block, b.err = r.block(b.buf)
	if b.long {
		a.flying.Add(int64(len(b.text)))
	} else {
		r.drop(largeSpill)
	}
	a.ended = b.err != nil
	a.full <- b // there is room for every batch
	return true
}

// scan cuts a batch into lines and scans them.
func (a *Ahead[M]) scan(s *Scanner, m Maker[M], b *batch[M]) {
	b.rest = b.text
	b.cut()
	if need := s.paths * len(b.lines); cap(b.spans) < need {
		b.spans = make([]Span, need+need/4)
	}
	if need := len(b.lines); cap(b.scanned) < need {
		b.scanned = make([]Scanned[M], need, need+need/4)
	}
	b.scanned = b.scanned[:len(b.lines)]
	for i := range b.lines {
		l := &b.lines[i]
		one := &b.scanned[i]
		one.Spans = b.spans[i*s.paths : (i+1)*s.paths : (i+1)*s.paths]
		s.scan(l.Raw, one.Spans, &one.Verdict)
		m(l.Raw, one)
	}
	b.ready <- struct{}{}
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
