package publish

import (
	"errors"
	"io"
	"os"
	"sync"
)

// readBack reads a draft while it is being written, always up to where the writer is. A nil readBack reads nothing.
type readBack struct {
	file   *os.File
	pos    int64 // of the next byte to be read
	result chan error

	mu      sync.Mutex
	grown   *sync.Cond
	written int64
	ended   error // why nothing more will be written: io.EOF, or that the draft is given up
}

var errGivenUp = errors.New("the file is not going to be completed")

// startReading has a check read what is going to be written. It opens the file by its name, as everybody will.
func (d *draft) startReading(check func(back io.Reader) error) (err error) {
	if check == nil {
		return nil
	}
	r := &readBack{result: make(chan error, 1)}
	if r.file, err = os.Open(d.f.Name()); err != nil {
		return explain("reading back", d.Path, err)
	}
	r.grown = sync.NewCond(&r.mu)
	d.back = r
	go func() { r.result <- check(r) }()
	return nil
}

// Read implements io.Reader for the check.
func (r *readBack) Read(b []byte) (int, error) {
	r.mu.Lock()
	for r.pos == r.written && r.ended == nil {
		r.grown.Wait()
	}
	left, ended := r.written-r.pos, r.ended
	r.mu.Unlock()
	if left == 0 || errors.Is(ended, errGivenUp) {
		return 0, ended
	}
	n, err := r.file.ReadAt(b[:min(int64(len(b)), left)], r.pos)
	r.pos += int64(n)
	switch {
	case n > 0:
		return n, nil
	case errors.Is(err, io.EOF): // bytes that were written are not there
		return 0, io.ErrUnexpectedEOF
	}
	return 0, err
}

// ReadAt implements io.ReaderAt, for what Read has returned before.
func (r *readBack) ReadAt(b []byte, off int64) (int, error) { return r.file.ReadAt(b, off) }

// wrote tells of n more bytes in the file.
func (r *readBack) wrote(n int) {
	if r == nil {
		return
	}
	r.mu.Lock()
	r.written += int64(n)
	r.mu.Unlock()
	r.grown.Signal()
}

// finish lets the check read up to the end of what was written, and returns what it says.
func (r *readBack) finish() error {
	if r == nil {
		return nil
	}
	return r.end(io.EOF)
}

// stop ends the check, if it has not ended yet.
func (r *readBack) stop() {
	if r != nil {
		r.end(errGivenUp)
	}
}

func (r *readBack) end(why error) error {
	r.mu.Lock()
	if r.ended == nil {
		r.ended = why
	}
	r.mu.Unlock()
	r.grown.Signal()
	err := <-r.result
	r.result <- err // for the next call
	r.file.Close()
	return err
}
