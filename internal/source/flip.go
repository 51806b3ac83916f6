package source

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/klauspost/compress/zstd"
)

// maxTries bounds the search for a flipped bit: bits that may be the one, times the bytes that the stream decodes to. It
// lets a session of one block (128 KiB of text) be searched whole, which takes some seconds on two processors.
const maxTries = 40 << 30

// maxSearched is how large a stored file may be to be held whole and searched, in bytes.
const maxSearched = 16 << 20

// maxUnlikely bounds it where the stream is most likely cut off, and no bit was flipped.
const maxUnlikely = 1 << 30

// maxDecoded is how much a stream may decode to, in bytes, for it to be asked whether it is broken off.
const maxDecoded = 1 << 30

// Sizes of what a zstd frame is made of, in bytes (RFC 8878, 3.1.1).
const (
	magicSize       = 4
	maxFrameHeader  = 18
	blockHeaderSize = 3
	maxBlock        = 128 << 10
	checksumSize    = 4
)

// Kinds of blocks (the same, 3.1.1.2.2).
const (
	rawBlock      = 0
	repeatedBlock = 1
)

// flip is one bit of a stored file that is read the other way round.
type flip struct {
	at   int64 // 0-based offset of its byte
	mask byte
}

// apply turns the bit in b, which was read at offset off.
func (f *flip) apply(b []byte, off int64) {
	if f != nil && f.at >= off && f.at < off+int64(len(b)) {
		b[f.at-off] ^= f.mask
	}
}

// Unflip looks for the one bit of a damaged zstd stream that was flipped, if that is all that happened to it: with the bit
// turned back the stream decodes to its end and the checksum over its content is right, which is so of no other content.
// Readers that are opened from then on turn the bit back; Raw ones do not. It says whether there is such a bit: none is
// looked for in a stream without a checksum, or in one so long that the search would take more than seconds.
func (s *Source) Unflip(ctx context.Context) (bool, error) {
	if err := s.see(); err != nil {
		return false, err
	}
	if s.once || !s.Compressed || s.size > maxSearched {
		return false, nil
	}
	p, err := s.plain(ctx)
	if err != nil {
		return false, err
	}
	defer p.Close()
	stored := make([]byte, s.size)
	if _, err := io.ReadFull(p, stored); err != nil {
		return false, fmt.Errorf("%s: %w", s.Path, err)
	}
	found, err := findFlip(ctx, stored)
	if err != nil || found == nil {
		return false, err
	}
	s.flip.Store(found)
	s.Magic = true
	return true, nil
}

// Flipped is the offset of the byte whose bit Unflip has found; false if it has found none.
func (s *Source) Flipped() (at int64, ok bool) {
	f := s.flip.Load()
	if f == nil {
		return 0, false
	}
	return f.at, true
}

// findFlip tries the bits of a stream that may be the flipped one.
func findFlip(ctx context.Context, stored []byte) (*flip, error) {
	suspects, sizes, content := suspectsOf(stored)
	most := int64(maxTries)
	if content <= maxDecoded && brokenOff(stored) {
		if found, err := tryBits(ctx, stored, sizes, content, most); found != nil || err != nil {
			return found, err
		}
		most = maxUnlikely
	}
	return tryBits(ctx, stored, suspects, content, most)
}

// tryBits tries the bits of some bytes of a stream; none if that would be more than most tries, as maxTries counts them.
func tryBits(ctx context.Context, stored []byte, suspects []int64, content, most int64) (*flip, error) {
	if int64(len(suspects))*8*content > most {
		return nil, nil
	}
	workers := runtime.GOMAXPROCS(0)
	var found atomic.Pointer[flip]
	errs := make([]error, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			t, err := newTrial(stored)
			if err != nil {
				errs[w] = err
				return
			}
			defer t.decoder.Close()
			for i := w; i < len(suspects) && found.Load() == nil && ctx.Err() == nil; i += workers {
				if f := t.of(suspects[i]); f != nil {
					found.CompareAndSwap(nil, f)
				}
			}
		})
	}
	wg.Wait()
	for _, err := range append(errs, ctx.Err()) {
		if err != nil {
			return nil, err
		}
	}
	return found.Load(), nil
}

// brokenOff says whether a stream decodes up to where the file ends.
func brokenOff(stored []byte) bool {
	d, err := newDecoder(bytes.NewReader(stored))
	if err != nil {
		return false
	}
	defer d.Close()
	_, err = io.Copy(io.Discard, io.LimitReader(d, maxDecoded))
	return errors.Is(err, io.ErrUnexpectedEOF)
}

// suspectsOf are the offsets of the bytes of a stream in which a flipped bit may lie, and how many bytes it may decode to.
// A stream whose blocks fill the file exactly has its fault in what they hold; in any other the walk over the blocks was led
// astray by one of those bytes that say how large things are. Where it is broken off, it is one of sizes: those of blocks that
// are stored as they are, which decode with any size, and of the last two: of the others some can be a byte too long, and
// what is read behind such a one is hardly ever a block that decodes.
func suspectsOf(stored []byte) (suspects, sizes []int64, content int64) {
	size := int64(len(stored))
	for i := range min(size, maxFrameHeader) {
		suspects = append(suspects, i)
	}
	var h zstd.Header
	if h.Decode(stored) != nil {
		return suspects, suspects, maxSearched
	}
	blocks := int64(0)
	at, last := int64(h.HeaderSize), false
	for ; !last && at+blockHeaderSize <= size; blocks++ {
		header := binary.LittleEndian.Uint32(append(stored[at:at+blockHeaderSize:at+blockHeaderSize], 0))
		last = header&1 == 1
		length := int64(header >> 3)
		kind := header >> 1 & 3
		if kind == repeatedBlock {
			length = 1
		}
		suspects = append(suspects, at, at+1, at+2)
		if kind == rawBlock {
			sizes = append(sizes, at, at+1, at+2)
		}
		at += blockHeaderSize + length
	}
	sizes = append(sizes, suspects[max(0, len(suspects)-2*blockHeaderSize):]...)
	if last && h.HasCheckSum && at+checksumSize == size {
		suspects = suspects[:0]
		for i := int64(0); i < size; i++ {
			suspects = append(suspects, i)
		}
	}
	content = blocks * maxBlock
	if h.HasFCS {
		content = min(content, int64(min(h.FrameContentSize, maxSearched)))
	}
	return suspects, sizes, content
}

// trial is a stream of which one bit after the other is turned.
type trial struct {
	stored  []byte
	room    []byte
	decoder *zstd.Decoder
}

func newTrial(stored []byte) (*trial, error) {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(2*maxSearched))
	if err != nil {
		return nil, fmt.Errorf("making a zstd decoder: %w", err)
	}
	return &trial{stored: append([]byte(nil), stored...), decoder: d}, nil
}

// of is the bit of one byte that makes the stream whole, nil if none does.
func (t *trial) of(at int64) *flip {
	for bit := range 8 {
		f := &flip{at, 1 << bit}
		f.apply(t.stored, 0)
		whole := t.whole()
		f.apply(t.stored, 0)
		if whole {
			return f
		}
	}
	return nil
}

// whole says whether the stream decodes, and says that it has a checksum: a decoder takes one that has none for right.
func (t *trial) whole() bool {
	if len(t.stored) <= magicSize || t.stored[magicSize]&4 == 0 {
		return false
	}
	text, err := t.decoder.DecodeAll(t.stored, t.room[:0])
	if cap(text) > cap(t.room) {
		t.room = text
	}
	return err == nil
}
