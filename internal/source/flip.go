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

// maxWork limits the search for a flipped bit: the number of bits to try, times the bytes that the stream decodes to. A
// session of one block (128 KiB of text) can be searched whole, which takes some seconds on two processors.
const maxWork = 40 << 30

// maxSearched is the size of the largest stored file that is searched, in bytes; it is held in memory.
const maxSearched = 16 << 20

// maxUnlikelyWork is the limit, as maxWork, if the stream was most likely cut off and no bit flipped.
const maxUnlikelyWork = 1 << 30

// maxDecoded is how much a stream may decode to, in bytes, for it to be examined whether it is cut off.
const maxDecoded = 1 << 30

// Sizes of the parts of a zstd frame, in bytes (RFC 8878, 3.1.1).
const (
	magicSize       = 4
	maxFrameHeader  = 18
	blockHeaderSize = 3
	maxBlock        = 128 << 10
	checksumSize    = 4
)

// Kinds of blocks (RFC 8878, 3.1.1.2.2).
const (
	rawBlock      = 0
	repeatedBlock = 1
)

// flip is a bit of a stored file that readers invert.
type flip struct {
	at   int64 // 0-based offset of its byte
	mask byte
}

// apply inverts the bit in b, which was read at offset off.
func (f *flip) apply(b []byte, off int64) {
	if f != nil && f.at >= off && f.at < off+int64(len(b)) {
		b[f.at-off] ^= f.mask
	}
}

// Unflip looks for the one bit of a damaged zstd stream that was flipped, if nothing else happened to it: with that bit
// inverted the stream decodes to its end and the checksum over its content is right, which no other content achieves.
// Readers that are opened from then on invert the bit; Raw ones do not. It says whether there is such a bit. It does not
// search a stream without a checksum, or one so long that the search would take more than seconds.
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

// Flipped returns the offset of the byte whose bit Unflip found; false if it found none.
func (s *Source) Flipped() (at int64, ok bool) {
	f := s.flip.Load()
	if f == nil {
		return 0, false
	}
	return f.at, true
}

// findFlip tries the bits of a stream that may have been flipped.
func findFlip(ctx context.Context, stored []byte) (*flip, error) {
	suspects, sizes, content := suspectsOf(stored)
	most := int64(maxWork)
	if content <= maxDecoded && cutOff(stored) {
		if found, err := tryBits(ctx, stored, sizes, content, most); found != nil || err != nil {
			return found, err
		}
		most = maxUnlikelyWork
	}
	return tryBits(ctx, stored, suspects, content, most)
}

// tryBits tries the bits of the suspected bytes of a stream, or none if that would be more work than most, counted as
// maxWork is.
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
				if f := t.tryByte(suspects[i]); f != nil {
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

// cutOff says whether a stream decodes without an error up to the end of the file, and ends too early there.
func cutOff(stored []byte) bool {
	d, err := newDecoder(bytes.NewReader(stored))
	if err != nil {
		return false
	}
	defer d.Close()
	_, err = io.Copy(io.Discard, io.LimitReader(d, maxDecoded))
	return errors.Is(err, io.ErrUnexpectedEOF)
}

// suspectsOf returns the offsets of the bytes of a stream in which the flipped bit may be, and how many bytes the stream may
// decode to. If the blocks fill the file exactly, the fault is in their content. Otherwise it is in one of the bytes that
// give sizes, and led the walk over the blocks astray.
//
// sizes are the suspects if the stream seems to be cut off: the sizes of blocks that are stored uncompressed, which decode
// with any size, and of the last two blocks. With a wrong size, a compressed block may still decode if it is a byte too
// long, but what is read after it hardly ever does.
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

// trial is a stream in which one bit after another is inverted to see whether it decodes then.
type trial struct {
	stored  []byte
	buffer  []byte // for the decoded text, reused
	decoder *zstd.Decoder
}

func newTrial(stored []byte) (*trial, error) {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(2*maxSearched))
	if err != nil {
		return nil, fmt.Errorf("creating a zstd decoder: %w", err)
	}
	return &trial{stored: append([]byte(nil), stored...), decoder: d}, nil
}

// tryByte returns the bit of one byte that, inverted, repairs the stream; nil if none does.
func (t *trial) tryByte(at int64) *flip {
	for bit := range 8 {
		f := &flip{at, 1 << bit}
		f.apply(t.stored, 0)
		decodes := t.decodes()
		f.apply(t.stored, 0)
		if decodes {
			return f
		}
	}
	return nil
}

// decodes says whether the stream decodes and has a checksum. Without a checksum a decoder would accept wrong content.
func (t *trial) decodes() bool {
	if len(t.stored) <= magicSize || t.stored[magicSize]&4 == 0 {
		return false
	}
	text, err := t.decoder.DecodeAll(t.stored, t.buffer[:0])
	if cap(text) > cap(t.buffer) {
		t.buffer = text
	}
	return err == nil
}
