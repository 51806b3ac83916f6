package rowprint

import (
	"encoding/binary"
	"errors"
	"io"
)

// The form of a -wal file (https://www.sqlite.org/fileformat2.html#walformat).
const (
	walHead    = 32
	walFrame   = 24
	walMagic   = 0x377f0682 // the lowest bit says in which order bytes are summed
	walVersion = 3007000
)

// readWAL finds the pages that were written to the -wal file and not yet into the database, up to the last transaction that
// is whole, as SQLite does when it recovers one.
func (f *file) readWAL() error {
	if f.wal == nil {
		return nil
	}
	var head [walHead]byte
	if _, err := f.wal.ReadAt(head[:], 0); errors.Is(err, io.EOF) {
		return nil // it has no frames
	} else if err != nil {
		return err
	}
	sums := walSums{order: binary.LittleEndian}
	switch binary.BigEndian.Uint32(head[:]) {
	case walMagic:
	case walMagic + 1:
		sums.order = binary.BigEndian
	default:
		return form("a -wal file of another kind")
	}
	sums.add(head[:24])
	if !sums.are(head[24:]) || binary.BigEndian.Uint32(head[4:]) != walVersion || int(binary.BigEndian.Uint32(head[8:])) != f.size {
		return form("a -wal file of another kind")
	}
	written, frame := map[uint32]int64{}, make([]byte, walFrame+f.size)
	for at := int64(walHead); ; at += int64(len(frame)) {
		if _, err := f.wal.ReadAt(frame, at); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		page, pages := binary.BigEndian.Uint32(frame), binary.BigEndian.Uint32(frame[4:])
		sums.add(frame[:8])
		sums.add(frame[walFrame:])
		if page == 0 || string(frame[8:16]) != string(head[16:24]) || !sums.are(frame[16:]) {
			return nil // left over from before, or not whole
		}
		written[page] = at + walFrame
		if pages == 0 {
			continue // the transaction goes on
		}
		if f.newer == nil {
			f.newer = map[uint32]int64{}
		}
		for page, at := range written {
			f.newer[page] = at
		}
		clear(written)
		f.pages = pages
	}
}

// walSums are the checksums of a -wal file, of all up to one place.
type walSums struct {
	order binary.ByteOrder
	a, b  uint32
}

// add adds a text, whose length is a multiple of eight.
func (s *walSums) add(text []byte) {
	for ; len(text) >= 8; text = text[8:] {
		s.a += s.order.Uint32(text) + s.b
		s.b += s.order.Uint32(text[4:]) + s.a
	}
}

// are compares them with those that are written somewhere.
func (s *walSums) are(written []byte) bool {
	return binary.BigEndian.Uint32(written) == s.a && binary.BigEndian.Uint32(written[4:]) == s.b
}
