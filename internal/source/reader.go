package source

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"

	"github.com/klauspost/compress/zstd"
)

// maxWindow limits the memory of one zstd decoder, in bytes. It is what the zstd program accepts by default (window log 27);
// Codex writes level 3, whose window is 2 MiB.
const maxWindow = 128 << 20

// A stream that unpacks to more than maxRatio times its size is none of a session, if that is more than minExpanded bytes: it may hold
// terabytes. Sessions are packed to a tenth or a fiftieth.
const (
	maxRatio    = 500
	minExpanded = 16 << 20
)

// Reader returns the session's bytes from the start, decompressed if need be. Once the context is done, reading fails with
// the context's error.
//
// For a plain file the value also implements io.ReaderAt. It ends at the size that the file had at Open; if the file is
// shorter by now the error is ErrChanged. A damaged zstd stream delivers everything that can be decoded and then ErrCorrupt, with
// ErrUncompressed if its end was not compressed and has been delivered, too, or ErrMisnamed after all of it; one that unpacks to far more than a session would, ErrWindow.
// Every reader has a method Consumed() int64, which says how many bytes of Size it has used so far and may be called from
// another goroutine.
func (s *Source) Reader(ctx context.Context) (io.ReadCloser, error) {
	if s.once {
		return s.only(ctx)
	}
	if err := s.see(); err != nil {
		return nil, err
	}
	p, err := s.plain(ctx)
	if err != nil {
		return nil, err
	}
	if s.Compressed {
		return s.decode(bufio.NewReaderSize(p, 256<<10), p.Close, &p.used)
	}
	return p, nil
}

// Raw returns the bytes as they are stored, compressed or not, from the start. For a Once source the error is ErrOnce.
func (s *Source) Raw(ctx context.Context) (io.ReadCloser, error) {
	if s.once {
		return nil, fmt.Errorf("%s: %w", s.Path, ErrOnce)
	}
	return s.plain(ctx)
}

func (s *Source) plain(ctx context.Context) (*plainReader, error) {
	if err := checkContext(ctx, s.Path); err != nil {
		return nil, err
	}
	p := &plainReader{ctx: ctx, path: s.Path, size: s.size, all: &s.read}
	if s.held != nil {
		p.at = bytes.NewReader(s.held)
		return p, nil
	}
	if s.Real == "" {
		if s.spool == nil {
			return nil, fmt.Errorf("%s: read after close", s.Path)
		}
		p.at = s.spool
		return p, nil
	}
	f, err := s.reopen()
	if err != nil {
		return nil, err
	}
	p.at, p.close = f, f.Close
	return p, nil
}

func (s *Source) only(ctx context.Context) (io.ReadCloser, error) {
	s.mu.Lock()
	r := s.stream
	s.stream = nil
	s.mu.Unlock()
	if r == nil {
		return nil, fmt.Errorf("%s: %w", s.Path, ErrOnce)
	}
	c := &streamReader{ctx: ctx, path: s.Path}
	c.r = r
	buf := bufio.NewReaderSize(c, 64<<10)
	head, err := buf.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if s.Magic = isZstd(head); s.Magic {
		s.Compressed = true
		return s.decode(buf, nil, &c.used)
	}
	return struct {
		io.Reader
		io.Closer
		counter
	}{buf, closer(func() error { return nil }), counter{&c.used}}, nil
}

// decode puts a zstd decoder with bounded memory on r.
func (s *Source) decode(r io.Reader, closeRaw func() error, used *atomic.Int64) (io.ReadCloser, error) {
	last := &lastRead{Reader: r}
	d, err := newDecoder(last)
	if err != nil {
		if closeRaw != nil {
			closeRaw()
		}
		return nil, s.zstdError(err, 0)
	}
	return &zstdReader{source: s, d: d, in: last, raw: closeRaw, counter: counter{used}}, nil
}

// newDecoder returns a zstd decoder that uses no more memory than maxWindow.
func newDecoder(r io.Reader) (*zstd.Decoder, error) {
	return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderMaxMemory(maxWindow))
}

// zstdError sorts the decoder's errors: those of the file system or the context are returned as they are, all others mean
// that the stream is damaged.
func (s *Source) zstdError(err error, delivered int64) error {
	var system interface{ Timeout() bool } // fs.PathError and friends
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.Is(err, ErrChanged), errors.As(err, &system):
		return err
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return fmt.Errorf("%s: %w: that takes more than %d MiB of memory; unpack it by hand with zstd -d --long=31 and name the result", s.Path, ErrWindow, maxWindow>>20)
	case errors.Is(err, ErrUncompressed), errors.Is(err, ErrBehind), errors.Is(err, ErrMisnamed):
		return fmt.Errorf("%s: %w: %w", s.Path, ErrCorrupt, err)
	case errors.Is(err, zstd.ErrCRCMismatch):
		return fmt.Errorf("%s: %w: %w", s.Path, ErrCorrupt, ErrChecksum)
	case !s.Magic:
		return fmt.Errorf("%s: %w: its name ends in .zst, but it does not begin like zstd", s.Path, ErrCorrupt)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%s: %w: it is cut off after %d decoded bytes", s.Path, ErrCorrupt, delivered)
	}
	return fmt.Errorf("%s: %w after %d decoded bytes: %w", s.Path, ErrCorrupt, delivered, err)
}

// counter says how far into the stored bytes a reader is.
type counter struct{ used *atomic.Int64 }

// Consumed returns how many stored bytes have been used so far.
func (c counter) Consumed() int64 { return c.used.Load() }

type closer func() error

func (c closer) Close() error { return c() }

// plainReader reads the bytes [0,size) of a file, and none after them, from a position of its own.
type plainReader struct {
	ctx   context.Context
	path  string
	at    io.ReaderAt
	size  int64
	pos   int64
	used  atomic.Int64
	all   *atomic.Int64 // bytes read by all readers of the source
	close func() error  // nil: the file is not ours to close
}

func (p *plainReader) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	n, err := p.ReadAt(b, p.pos)
	p.pos += int64(n)
	p.used.Store(p.pos)
	p.all.Add(int64(n))
	if n > 0 && errors.Is(err, io.EOF) {
		err = nil // the next call returns it
	}
	return n, err
}

// Size returns how many bytes the file had at Open.
func (p *plainReader) Size() int64 { return p.size }

// ReadAt implements io.ReaderAt within the size that the file had at Open.
func (p *plainReader) ReadAt(b []byte, off int64) (int, error) {
	if err := checkContext(p.ctx, p.path); err != nil {
		return 0, err
	}
	if off < 0 {
		return 0, fmt.Errorf("reading %s at %d: %w", p.path, off, ErrRange)
	}
	if off >= p.size {
		return 0, io.EOF
	}
	want := b
	if left := p.size - off; int64(len(b)) > left {
		want = b[:left]
	}
	n, err := p.at.ReadAt(want, off)
	switch {
	case err == io.EOF && n < len(want):
		return n, fmt.Errorf("%s: %w: it ends at byte %d, at open it had %d", p.path, ErrChanged, off+int64(n), p.size)
	case err != nil && err != io.EOF:
		return n, explain(p.path, err)
	case n < len(b):
		return n, io.EOF
	}
	return n, nil
}

func (p *plainReader) Consumed() int64 { return p.used.Load() }

func (p *plainReader) Close() error {
	if p.close == nil {
		return nil
	}
	c := p.close
	p.close = nil
	return c()
}

// streamReader counts what comes from a stream and stops when the context is done.
type streamReader struct {
	ctx  context.Context
	path string
	r    io.Reader
	used atomic.Int64
}

func (c *streamReader) Read(b []byte) (int, error) {
	if err := checkContext(c.ctx, c.path); err != nil {
		return 0, err
	}
	n, err := c.r.Read(b)
	c.used.Add(int64(n))
	return n, err
}

// lastRead keeps the last bytes that were read.
type lastRead struct {
	io.Reader
	bytes [4]byte
}

// Read is io.Reader's.
func (l *lastRead) Read(b []byte) (int, error) {
	n, err := l.Reader.Read(b)
	if kept := min(n, len(l.bytes)); kept > 0 {
		copy(l.bytes[:], l.bytes[kept:])
		copy(l.bytes[len(l.bytes)-kept:], b[n-kept:n])
	}
	return n, err
}

type zstdReader struct {
	counter
	source *Source
	d      *zstd.Decoder
	in     *lastRead
	wrong  bool      // a frame did not have its checksum
	plain  io.Reader // what stands behind the last frame, if that is not compressed
	raw    func() error
	n      int64
	err    error
}

// read reads what is compressed, and then records that a program has appended as they are.
func (z *zstdReader) read(b []byte) (n int, err error) {
	if z.plain == nil {
		n, err = z.d.Read(b)
		switch {
		case errors.Is(err, zstd.ErrCRCMismatch): // that is all of this frame but its last block, which is given to who asks again; others may follow
			more, err := z.d.Read(b[n:])
			if n += more; err == nil {
				return n, nil
			}
			z.wrong = true
			return n, z.d.Reset(z.in)
		case z.wrong && err == io.EOF:
			return n, zstd.ErrCRCMismatch
		case err == io.EOF && strings.HasSuffix(z.source.Name, ".jsonl"):
			return n, ErrMisnamed
		}
		if !errors.Is(err, zstd.ErrMagicMismatch) {
			return n, err
		}
		// The decoder has read as many bytes as a frame begins with, and no more. They may be a frame's beginning, and damaged.
		if z.in.bytes == [4]byte{} && z.n+int64(n) > 0 {
			return n, ErrBehind
		}
		if !bytes.HasPrefix(bytes.TrimLeft(z.in.bytes[:], "\r\n"), []byte("{")) {
			return n, err
		}
		z.plain = io.MultiReader(bytes.NewReader(z.in.bytes[:]), z.in.Reader)
		if n > 0 {
			return n, nil
		}
	}
	n, err = z.plain.Read(b)
	switch {
	case err == io.EOF && !z.source.Magic:
		err = ErrMisnamed
	case err == io.EOF:
		err = ErrUncompressed
	}
	return n, err
}

func (z *zstdReader) Read(b []byte) (int, error) {
	if z.err != nil {
		return 0, z.err
	}
	n, err := z.read(b)
	z.n += int64(n)
	if most := max(minExpanded, maxRatio*max(z.source.size, z.Consumed())); z.n > most {
		return 0, fmt.Errorf("%s: %w: it unpacks to more than %d times its size, as no session does; unpack it by hand with zstd -d and name the result", z.source.Path, ErrWindow, maxRatio)
	}
	if err != nil && err != io.EOF {
		only := errors.Is(err, zstd.ErrCRCMismatch)
		if err = z.source.zstdError(err, z.n); z.wrong && !only && errors.Is(err, ErrCorrupt) {
			err = fmt.Errorf("%w, and %w", err, ErrPartWrong)
		}
	}
	if n > 0 && err != nil {
		z.err, err = err, nil // good bytes first, then the error
	}
	return n, err
}

func (z *zstdReader) Close() error {
	if z.d == nil {
		return nil
	}
	z.d.Close()
	z.d = nil
	z.err = fmt.Errorf("%s: read after close", z.source.Path)
	if z.raw == nil {
		return nil
	}
	return z.raw()
}

// ReadAll reads a session's text to its end, which is where a damaged zstd stream breaks off. size is how many bytes are expected, 0 if that
// is not known: a text of which it is known is not copied while it grows.
func ReadAll(in io.Reader, size int64) ([]byte, error) {
	var text bytes.Buffer
	if size > 0 {
		text.Grow(int(size) + bytes.MinRead)
	}
	_, err := text.ReadFrom(in)
	if errors.Is(err, ErrCorrupt) {
		err = nil
	}
	return text.Bytes(), err
}
