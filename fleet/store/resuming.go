package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"
)

// resuming reads an object to its end. When the stream is cut, it asks for the rest; should the object have changed
// meanwhile, the store refuses that.
type resuming struct {
	ctx  context.Context
	open func(from int64) (body io.ReadCloser, etag string, err error)

	body  io.ReadCloser
	etag  string // of what was read so far, "" before the first byte
	at    int64  // bytes read
	tried int    // failures since the last byte
}

// firstPause is how long it is waited after the first failure; each further one doubles it.
const firstPause = 100 * time.Millisecond

func (r *resuming) Read(p []byte) (int, error) {
	for {
		n, err := r.body.Read(p)
		r.at += int64(n)
		if n > 0 {
			r.tried = 0
			if !errors.Is(err, io.EOF) {
				err = nil // the next call meets it again
			}
			return n, err
		}
		if err == nil || errors.Is(err, io.EOF) {
			return 0, err
		}
		r.body.Close()
		if err := r.again(err); err != nil {
			r.body = failed{err}
			return 0, err
		}
	}
}

// again opens the rest of the object after a failure.
func (r *resuming) again(cause error) error {
	for r.tried++; r.tried < tries; r.tried++ {
		pause := firstPause << (r.tried - 1)
		select {
		case <-r.ctx.Done():
			return r.ctx.Err()
		case <-time.After(pause/2 + rand.N(pause)):
		}
		err := r.reopen()
		if !errors.Is(err, ErrUnavailable) {
			return err
		}
		cause = err
	}
	return fmt.Errorf("%w: %d tries: %w", ErrUnavailable, tries, cause)
}

func (r *resuming) reopen() error {
	body, etag, err := r.open(r.at)
	if err != nil {
		return err
	}
	if r.etag != "" && etag != r.etag {
		body.Close()
		return ErrChanged
	}
	r.body, r.etag = body, etag
	return nil
}

func (r *resuming) Close() error { return r.body.Close() }

// failed is the rest of a stream that can't be had.
type failed struct{ err error }

func (f failed) Read([]byte) (int, error) { return 0, f.err }
func (f failed) Close() error             { return nil }
