package jsonl

import "bytes"

// Skip gives the lines before the one with the number until to do, uncut and with
// their newlines: blocks of so many lines, valid until do returns. It stops
// earlier at a line that the buffer does not hold and at one without a newline.
// The error is what do returns; one of the stream is left to Next.
func (r *Reader) Skip(until int64, do func(block []byte, lines int64) error) error {
	for r.number+1 < until {
		whole := bytes.LastIndexByte(r.buf[r.start:r.end], '\n') + 1
		if whole == 0 {
			if !r.more() {
				return nil
			}
			continue
		}
		block := r.buf[r.start : r.start+whole]
		lines := int64(bytes.Count(block, []byte{'\n'}))
		for ; lines >= until-r.number; lines-- {
			block = block[:bytes.LastIndexByte(block[:len(block)-1], '\n')+1]
		}
		r.start += len(block)
		r.number += lines
		r.offset += int64(len(block))
		if err := do(block, lines); err != nil {
			return err
		}
	}
	return nil
}

// more reads on behind what the buffer holds, and says whether there was room and
// anything to read.
func (r *Reader) more() bool {
	if r.start > 0 {
		r.end = copy(r.buf, r.buf[r.start:r.end])
		r.start = 0
	}
	if r.err != nil || r.end == len(r.buf) {
		return false
	}
	r.end += r.read(r.buf[r.end:])
	return true
}

// block is a piece of a stream in whole lines.
type block struct {
	text   []byte
	long   bool  // it is one line, without its newline
	open   bool  // the last line has no newline
	passed int64 // bytes of the long line that were passed over
}

// block reads the lines that come next into buf: as many as it holds, or one that it does not hold. What stands there behind
// them stays there until the next call, for which buf may be given again. buf has the length of the Reader's buffer. The error
// is the stream's, when there are no more lines.
func (r *Reader) block(buf []byte) (block, error) {
	r.start, r.end, r.buf = 0, copy(buf, r.buf[r.start:r.end]), buf
	for r.more() {
	}
	whole := bytes.LastIndexByte(r.buf[:r.end], '\n') + 1
	switch {
	case r.end == 0:
		return block{}, r.err
	case whole == 0 && r.err == nil:
		line := r.long()
		r.spill = nil
		return block{text: line.Raw, long: true, open: !line.Terminated, passed: line.Passed}, nil
	case whole == 0:
		whole = r.end
	}
	r.start = whole
	return block{text: r.buf[:whole], open: r.buf[whole-1] != '\n'}, nil
}
