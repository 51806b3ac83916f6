package jsonl

import "bytes"

// block is a piece of a stream in whole lines.
type block struct {
	text []byte
	long bool // it is one line, without its newline
	open bool // the last line has no newline
}

// block returns the lines that come next: as many as the buffer holds, or one
// that it does not hold. The text is the caller's from now on: the Reader goes on
// with *spare, which has the length of its buffer, and gives the buffer for it.
// The error is the stream's, when there are no more lines.
func (r *Reader) block(spare *[]byte) (block, error) {
	if r.start > 0 {
		r.end = copy(r.buf, r.buf[r.start:r.end])
		r.start = 0
	}
	for r.err == nil && r.end < len(r.buf) {
		r.end += r.read(r.buf[r.end:])
	}
	whole := bytes.LastIndexByte(r.buf[:r.end], '\n') + 1
	switch {
	case r.end == 0:
		return block{}, r.err
	case whole == 0 && r.err == nil:
		line := r.long()
		r.spill = nil
		return block{text: line.Raw, long: true, open: !line.Terminated}, nil
	case whole == 0:
		whole = r.end
	}
	text, rest := r.buf[:whole], r.buf[whole:r.end]
	r.buf, *spare = *spare, r.buf
	r.start, r.end = 0, copy(r.buf, rest)
	return block{text: text, open: text[whole-1] != '\n'}, nil
}
