package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"
)

// resuming reads an object to its end. If the stream breaks off, it requests the rest; if the object has changed meanwhile,
// the read fails with ErrChanged.
type resuming struct {
	ctx  context.Context
	open func(from int64) (body io.ReadCloser, etag string, err error)

	body  io.ReadCloser
	etag  string // of the object that is being read, "" before the first answer
	at    int64  // bytes read
	tried int    // failures since the last byte
}

// firstPause is the pause after the first failure; each further failure doubles it.
const firstPause = 100 * time.Millisecond

func (r *resuming) Read(p []byte) (int, error) {
	for {
		n, err := r.body.Read(p)
		r.at += int64(n)
		if n > 0 {
			r.tried = 0
			if !errors.Is(err, io.EOF) {
				err = nil // the next call gets it again
			}
			return n, err
		}
		if err == nil || errors.Is(err, io.EOF) {
			return 0, err
		}
		r.body.Close()
		if err := r.retry(err); err != nil {
			r.body = failed{err}
			return 0, err
		}
	}
}

// retry opens the rest of the object after a failure.
func (r *resuming) retry(cause error) error {
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

// failed is the body after the last retry has failed.
type failed struct{ err error }

func (f failed) Read([]byte) (int, error) { return 0, f.err }
func (f failed) Close() error             { return nil }
