package source

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// ErrTooLarge says that a file is larger than Small's limit.
var ErrTooLarge = errors.New("the file is too large")

// Small returns the content of a regular file of at most limit bytes, such as a configuration file. A larger file gives
// ErrTooLarge, and anything but a regular file ErrNotRegular, without waiting for it.
func Small(path string, limit int64) ([]byte, error) {
	f, err := openFile(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: it is %s", ErrNotRegular, kind(info.Mode()))
	}
	text, err := io.ReadAll(io.LimitReader(f, limit+1)) // it may grow meanwhile
	if err == nil && int64(len(text)) > limit {
		return nil, fmt.Errorf("%w: it has more than %d bytes", ErrTooLarge, limit)
	}
	return text, err
}

// Head returns the first bytes of a session's text, at most limit.
func Head(ctx context.Context, path string, limit int64) ([]byte, error) {
	s, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	in, err := s.Reader(ctx)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return io.ReadAll(io.LimitReader(in, limit))
}
