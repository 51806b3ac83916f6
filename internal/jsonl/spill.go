package jsonl

import (
	"bytes"
	"io"
	"runtime/debug"
)

const (
	probeSize  = 256 << 10 // bytes looked at ahead in one call
	largeSpill = 32 << 20  // bytes from which on a line's memory goes back to the system at once
	spillStep  = 256 << 10 // room is made in such steps, so that it serves for the next line of about the same length
)

// long returns a line that fills the whole buffer without ending in it.
func (r *Reader) long() Line {
	size := len(r.buf) + r.measure()
	tooLong := size > r.maxLine+1 // the newline was measured, too
	if tooLong {
		size = len(r.buf)
	}
	r.room(size)
	r.spill = append(r.spill[:0], r.buf[:r.end]...)
	r.start, r.end = 0, 0
	for r.err == nil {
		if tooLong || len(r.spill) > r.maxLine {
			return r.pass()
		}
		// Straight into the spill buffer while it has room, in pieces whose
		// rest fits into buf if a newline comes earlier than was measured.
		have := len(r.spill)
		if free := min(cap(r.spill)-have, len(r.buf)); free > 0 {
			n := r.read(r.spill[have : have+free])
			piece := r.spill[have : have+n]
			if k := bytes.IndexByte(piece, '\n'); k >= 0 {
				r.start, r.end = 0, copy(r.buf, piece[k+1:])
				r.spill = r.spill[:have+k]
				return r.whole()
			}
			r.spill = r.spill[:have+n]
			continue
		}
		r.end = r.read(r.buf)
		piece := r.buf[:r.end]
		k := bytes.IndexByte(piece, '\n')
		if k >= 0 {
			piece = piece[:k]
			r.start = k + 1
		} else {
			r.start = r.end
		}
		r.grow(len(piece))
		r.spill = append(r.spill, piece...)
		if k >= 0 {
			return r.whole()
		}
	}
	if len(r.spill) > r.maxLine {
		return r.pass()
	}
	return r.line(r.spill, false)
}

// whole returns the line that the spill buffer holds, or the head of one that is a little too long.
func (r *Reader) whole() Line {
	if len(r.spill) <= r.maxLine {
		return r.line(r.spill, true)
	}
	head := bytes.Clone(r.spill[:min(len(r.spill), keptHead, r.maxLine)])
	return r.passed(head, int64(len(r.spill)-len(head)), true)
}

// pass returns the head of a line that is too long, and reads on to its end.
func (r *Reader) pass() Line {
	head := bytes.Clone(r.spill[:min(len(r.spill), keptHead, r.maxLine)])
	passed := int64(len(r.spill) - len(head))
	r.drop(0)
	for r.err == nil {
		n := r.read(r.buf)
		if k := bytes.IndexByte(r.buf[:n], '\n'); k >= 0 {
			r.start, r.end = k+1, n
			return r.passed(head, passed+int64(k), true)
		}
		passed += int64(n)
	}
	return r.passed(head, passed, false)
}

func (r *Reader) passed(head []byte, passed int64, terminated bool) Line {
	l := r.line(head, terminated)
	l.Passed = passed
	r.offset += passed
	return l
}

// measure looks ahead for the end of the line and returns how many bytes behind
// the buffer it has, with its newline; 0 if that cannot be known. It is only a
// hint: the stream may change before it is read.
func (r *Reader) measure() int {
	if r.ahead == nil {
		return 0
	}
	if r.probe == nil {
		r.probe = make([]byte, probeSize)
	}
	n := 0
	for {
		got, err := r.ahead.ReadAt(r.probe, r.base+r.pulled+int64(n))
		if k := bytes.IndexByte(r.probe[:got], '\n'); k >= 0 {
			return n + k + 1
		}
		n += got
		if err == io.EOF {
			return n
		}
		if err != nil || got == 0 {
			return 0
		}
	}
}

// room makes the spill buffer large enough for n bytes.
func (r *Reader) room(n int) {
	if cap(r.spill) >= n {
		return
	}
	r.drop(0)
	r.spill = make([]byte, 0, (n+spillStep-1)/spillStep*spillStep)
}

// grow makes room for n more bytes in the spill buffer, doubling it.
func (r *Reader) grow(n int) {
	if need := len(r.spill) + n; need > cap(r.spill) {
		larger := make([]byte, len(r.spill), max(need, 2*cap(r.spill)))
		copy(larger, r.spill)
		r.drop(0)
		r.spill = larger
	}
}

// drop releases the spill buffer if it is larger than keep. The memory of a
// very large one goes back to the system at once: waiting for the collector
// could mean holding two of them.
func (r *Reader) drop(keep int) {
	size := cap(r.spill)
	if size <= keep {
		return
	}
	r.spill = nil
	if size >= largeSpill {
		debug.FreeOSMemory()
	}
}
