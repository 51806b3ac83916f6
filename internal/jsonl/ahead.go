package jsonl

// batchSize is the length in bytes of the lines that are scanned together. A longer line is handed over alone, and not
// scanned.
const batchSize = 256 << 10

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
	size int           // of a batch

	batch *batch // in hand
	next  int    // its line to deliver
}

// batch is some lines, or one long one.
type batch struct {
	text    []byte
	ends    []int // of the lines in text
	lines   []Line
	scanned []Scanned
	spans   []Span
	ready   chan struct{} // gets a value when the lines are scanned
	back    chan struct{} // gets a value when a loan is given back
	loan    bool          // the line's bytes lie in the Reader's buffer
	err     error         // of the Reader, behind the lines
}

// NewAhead goes on where r stands, which nobody else may use from now on. The lines are scanned by so many goroutines,
// at least one. What was begun must be closed.
func NewAhead(r *Reader, shape *Shape, scanners int) *Ahead {
	return newAhead(r, shape, scanners, batchSize)
}

func newAhead(r *Reader, shape *Shape, scanners, size int) *Ahead {
	a := &Ahead{
		size: size,
		full: make(chan *batch, scanners+2), work: make(chan *batch, scanners+2), free: make(chan *batch, scanners+2),
		stop: make(chan struct{}), done: make(chan struct{}),
	}
	for range scanners + 2 {
		a.free <- &batch{ready: make(chan struct{}, 1), back: make(chan struct{}, 1)}
	}
	for range scanners {
		go a.scan(NewScanner(shape))
	}
	go a.read(r)
	return a
}

// Close ends the reading and waits until it has ended, so that what is read from can be closed.
func (a *Ahead) Close() {
	close(a.stop)
	<-a.done
}

// Next returns the next line and what a Scanner says of it, nil if it was too long to be scanned ahead. Both are valid
// until the next call. The error is the Reader's.
func (a *Ahead) Next() (Line, *Scanned, error) {
	for a.batch == nil || a.next == len(a.batch.lines) {
		if b := a.batch; b != nil {
			if b.err != nil {
				return Line{}, nil, b.err
			}
			if b.loan {
				b.back <- struct{}{}
			}
			a.free <- b
		}
		a.batch, a.next = <-a.full, 0
		<-a.batch.ready
	}
	i := a.next
	a.next++
	if a.batch.loan {
		return a.batch.lines[i], nil, nil
	}
	return a.batch.lines[i], &a.batch.scanned[i], nil
}

// read fills batches until the Reader ends.
func (a *Ahead) read(r *Reader) {
	defer close(a.done)
	defer close(a.work)
	var long *Line // read, and too long for a batch
	for {
		var b *batch
		select {
		case b = <-a.free:
		case <-a.stop:
			return
		}
		long = b.fill(r, long, a.size)
		a.full <- b // there is room for every batch
		if !b.loan {
			a.work <- b
		} else {
			b.ready <- struct{}{}
			select {
			case <-b.back:
			case <-a.stop:
				return
			}
		}
		if b.err != nil {
			return
		}
	}
}

// fill copies lines into the batch. A long line is a batch of its own: if one comes behind others it is returned, to be
// given back at the next call.
func (b *batch) fill(r *Reader, long *Line, size int) *Line {
	b.text, b.ends, b.lines, b.loan, b.err = b.text[:0], b.ends[:0], b.lines[:0], false, nil
	if long != nil {
		b.lines, b.loan = append(b.lines, *long), true
		return nil
	}
	for len(b.text) < size {
		line, err := r.Next()
		if err != nil {
			b.err = err
			break
		}
		if len(line.Raw) > size {
			if len(b.lines) > 0 {
				long = &line
				break
			}
			b.lines, b.loan = append(b.lines, line), true
			return nil
		}
		b.text = append(b.text, line.Raw...)
		b.ends = append(b.ends, len(b.text))
		b.lines = append(b.lines, line)
	}
	from := 0
	for i, end := range b.ends {
		b.lines[i].Raw = b.text[from:end:end]
		from = end
	}
	return long
}

// scan scans batches until there are no more.
func (a *Ahead) scan(s *Scanner) {
	for b := range a.work {
		n := s.paths
		if need := n * len(b.lines); cap(b.spans) < need {
			b.spans = make([]Span, need+need/4)
		}
		b.scanned = b.scanned[:0]
		for i, l := range b.lines {
			spans := b.spans[i*n : (i+1)*n : (i+1)*n]
			b.scanned = append(b.scanned, Scanned{s.Scan(l.Raw, spans), spans})
		}
		b.ready <- struct{}{}
	}
}
