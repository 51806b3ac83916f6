package rowprint

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/hist-cli/hist/internal/regular"
)

// ErrForm says that a database is damaged, is being written, or has a form that is not read here.
var ErrForm = errors.New("a database in a form that is not read")

func form(why string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrForm, fmt.Sprintf(why, args...))
}

// file is an open database.
type file struct {
	db, wal *os.File // wal may be nil
	size    int      // of a page, in bytes
	usable  int      // of those, what holds content
	pages   uint32   // how many there are
	newer   map[uint32]int64
	seen    []uint64 // a bit for each page that was read
	levels  [maxDepth][]byte
	over    []byte // a payload that does not fit on its page
	spill   []byte // a page of that
}

// Offsets in the first page.
const (
	headSize    = 100
	atPageSize  = 16
	atReadAs    = 19 // 1: with a journal, 2: with a -wal file
	atReserved  = 20
	atChanges   = 24
	atPages     = 28
	atEncoding  = 56
	atValidFor  = 92
	minPageSize = 512
	maxPageSize = 65536
	utf8        = 1
	minUsable   = 480
)

const magic = "SQLite format 3\x00"

// open opens a database, and finds the pages of it that lie in its -wal file.
func open(path string) (*file, error) {
	if _, err := os.Lstat(path + "-journal"); !errors.Is(err, fs.ErrNotExist) {
		return nil, form("a journal")
	}
	f := &file{}
	var err error
	if f.db, err = regular.Open(path); err != nil {
		return nil, err
	}
	if f.wal, err = regular.Open(path + "-wal"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		f.close()
		return nil, err
	}
	if err := f.begin(); err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

func (f *file) close() {
	f.db.Close()
	if f.wal != nil {
		f.wal.Close()
	}
}

// begin reads the head of the database.
func (f *file) begin() error {
	info, err := f.db.Stat()
	if err != nil {
		return err
	}
	var head [headSize]byte
	if _, err := f.db.ReadAt(head[:], 0); err != nil {
		return form("no head: %v", err)
	}
	f.size = int(binary.BigEndian.Uint16(head[atPageSize:]))
	if f.size == 1 {
		f.size = maxPageSize
	}
	if string(head[:len(magic)]) != magic || f.size < minPageSize || f.size&(f.size-1) != 0 || info.Size()%int64(f.size) != 0 {
		return form("no database of whole pages")
	}
	f.pages = uint32(info.Size() / int64(f.size))
	if err := f.readWAL(); err != nil {
		return err
	}
	first := make([]byte, f.size)
	if err := f.read(1, first); err != nil {
		return err
	}
	f.usable = f.size - int(first[atReserved])
	if string(first[:len(magic)]) != magic || first[atReadAs] > 2 || f.usable < minUsable || binary.BigEndian.Uint32(first[atEncoding:]) != utf8 {
		return form("a head of another kind")
	}
	told := binary.BigEndian.Uint32(first[atPages:])
	if told > 0 && f.newer == nil && string(first[atChanges:atChanges+4]) == string(first[atValidFor:atValidFor+4]) {
		if told > f.pages {
			return form("%d pages of %d", f.pages, told)
		}
		f.pages = told
	}
	f.seen = make([]uint64, f.pages/64+1)
	return nil
}

// read reads a page.
func (f *file) read(n uint32, to []byte) error {
	if n == 0 || n > f.pages {
		return form("no page %d", n)
	}
	from, at := f.db, int64(n-1)*int64(f.size)
	if in, ok := f.newer[n]; ok {
		from, at = f.wal, in
	}
	if _, err := from.ReadAt(to[:f.size], at); err != nil {
		if errors.Is(err, io.EOF) {
			return form("page %d is cut", n)
		}
		return err
	}
	return nil
}

// once notes that a page is part of what is read: no page is part of two things.
func (f *file) once(n uint32) error {
	if n == 0 || n > f.pages {
		return form("no page %d", n)
	}
	bit := uint64(1) << (n % 64)
	if f.seen[n/64]&bit != 0 {
		return form("page %d is used twice", n)
	}
	f.seen[n/64] |= bit
	return nil
}
