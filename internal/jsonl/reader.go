package jsonl

import (
	"bytes"
	"io"
	"io/fs"
	"math"
)

// A Line is one line of a stream.
type Line struct {
	Number     int64  // 1-based
	Offset     int64  // of the first byte in the stream, 0-based
	Raw        []byte // without the newline; valid until the next call of Next
	Terminated bool   // false: the last line, without '\n'
	Passed     int64  // bytes behind Raw that were not kept: the line is longer than MaxLine, and Raw is its head
}

// Sizes in bytes.
const (
	bufferSize = 1 << 18
	keptSpill  = 4 << 20 // a larger spill buffer is dropped when ordinary lines follow
	keptHead   = 1 << 16 // what is kept of a line longer than MaxLine
)

// MaxLine is the length in bytes of the longest line that is kept: a text of JavaScript's is no longer, and a file of a few
// kilobytes may unpack to one of any length. Of a longer line the head is delivered, and the rest is passed over.
const MaxLine = 512 << 20

// A Reader cuts a stream into lines at '\n' and at nothing else. Lines have any
// length and any content.
type Reader struct {
	r      io.Reader
	ahead  io.ReaderAt // r, if it can look ahead, else nil
	base   int64       // where r stood in ahead at the beginning
	pulled int64       // bytes read from r

	buf        []byte
	start, end int   // of what is in buf and not yet delivered
	err        error // of r, delivered when buf is empty

	spill []byte // the line that does not fit into buf
	probe []byte // what was looked at ahead

	maxLine int // MaxLine, but in tests

	number int64 // of the last line
	offset int64 // of buf[start] in the stream
}

// NewReader returns a Reader of r. If r is also an io.ReaderAt over the same
// bytes, a line larger than the buffer is measured before room is made for it.
// If it is known how much r holds, the buffer is no larger: many small files
// may be read.
func NewReader(r io.Reader) *Reader { return newReader(r, int(min(bufferSize, sizeOf(r)+1))) }

// sizeOf is how much a reader holds, math.MaxInt64-1 if it does not say.
func sizeOf(r io.Reader) int64 {
	const leastFile = 4 << 10 // a file may grow, and some say that they hold nothing
	switch r := r.(type) {
	case interface{ Size() int64 }:
		return r.Size()
	case *io.LimitedReader:
		return min(r.N, sizeOf(r.R))
	case interface{ Stat() (fs.FileInfo, error) }:
		if info, err := r.Stat(); err == nil && info.Mode().IsRegular() {
			return max(leastFile, info.Size())
		}
	}
	return math.MaxInt64 - 1
}

// LineAt reads the line that begins at an offset, of up to most bytes, with a buffer that is no larger than it needs: for one who reads many
// lines, each by itself.
func LineAt(r io.ReaderAt, offset, most int64) (Line, error) {
	const size = 4 << 10
	return newReader(io.NewSectionReader(r, offset, most), size).Next()
}

func newReader(r io.Reader, size int) *Reader {
	x := &Reader{r: r, buf: make([]byte, size), maxLine: MaxLine}
	if at, ok := r.(io.ReaderAt); ok {
		x.ahead = at
		if seeker, ok := r.(io.Seeker); ok {
			base, err := seeker.Seek(0, io.SeekCurrent)
			if err != nil {
				x.ahead = nil // a pipe
			}
			x.base = base
		}
	}
	return x
}

// Next returns the next line, or io.EOF behind the last one. Another error of
// the stream is returned when all that was read before it is delivered.
func (r *Reader) Next() (Line, error) {
	searched := r.start // no newline in buf[start:searched]
	for {
		if k := bytes.IndexByte(r.buf[searched:r.end], '\n'); k >= 0 {
			raw := r.buf[r.start : searched+k : searched+k]
			r.start = searched + k + 1
			return r.line(raw, true), nil
		}
		searched = r.end
		if r.err != nil {
			if r.start == r.end {
				r.drop(0)
				return Line{}, r.err
			}
			raw := r.buf[r.start:r.end:r.end]
			r.start = r.end
			return r.line(raw, false), nil
		}
		searched -= r.start
		if !r.more() {
			return r.long(), nil
		}
	}
}

// line counts a line whose bytes are raw.
func (r *Reader) line(raw []byte, terminated bool) Line {
	if cap(r.spill) > keptSpill && len(raw) < len(r.buf) {
		r.drop(keptSpill)
	}
	r.number++
	l := Line{Number: r.number, Offset: r.offset, Raw: raw, Terminated: terminated}
	r.offset += int64(len(raw))
	if terminated {
		r.offset++
	}
	return l
}

// read reads at least one byte into p, or sets r.err.
func (r *Reader) read(p []byte) int {
	const tries = 100
	for range tries {
		n, err := r.r.Read(p)
		r.pulled += int64(n)
		r.err = err
		if n > 0 || err != nil {
			return n
		}
	}
	r.err = io.ErrNoProgress
	return 0
}
