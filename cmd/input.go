package cmd

import (
	"context"
	"io"
)

// input is standard input that stops waiting when the context is done: a read of a terminal or a pipe may never return.
type input struct {
	ctx context.Context
	in  io.Reader
	buf []byte // the reads' own: the caller's must not be written to once Read has returned
}

func (i *input) Read(p []byte) (int, error) {
	if err := i.ctx.Err(); err != nil {
		return 0, err
	}
	p = p[:min(len(p), 1<<20)]
	if len(i.buf) < len(p) {
		i.buf = make([]byte, len(p))
	}
	type read struct {
		n   int
		err error
	}
	done := make(chan read, 1)
	go func() {
		n, err := i.in.Read(i.buf[:len(p)])
		done <- read{n, err}
	}()
	select {
	case r := <-done:
		return copy(p, i.buf[:r.n]), r.err
	case <-i.ctx.Done():
		return 0, i.ctx.Err()
	}
}
