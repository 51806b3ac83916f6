package cmd

import (
	"context"
	"io"
	"os"
)

// input is standard input whose reads end when the context is done: a read of a terminal or a pipe may never return.
type input struct {
	ctx context.Context
	in  io.Reader
	buf []byte // a buffer of its own, because the caller's must not be written to once Read has returned
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

// fileOrInput is the file at path, or standard input for "-". The first read opens the file; all reads end with the context.
func (e *env) fileOrInput(ctx context.Context, path string) io.Reader {
	if path == "-" {
		return &input{ctx: ctx, in: e.in}
	}
	return &input{ctx: ctx, in: &lateFile{path: path}}
}

// lateFile is a file that is opened by the first read, so that opening it ends with the context, too: opening a named pipe may
// never return.
type lateFile struct {
	path string
	file *os.File
}

func (f *lateFile) Read(p []byte) (n int, err error) {
	if f.file == nil {
		if f.file, err = os.Open(f.path); err != nil {
			return 0, err
		}
	}
	if n, err = f.file.Read(p); err != nil {
		f.file.Close()
	}
	return n, err
}
