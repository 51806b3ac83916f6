package lintcache

import (
	"cmp"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hist-cli/hist/internal/source"
)

// A cache's file is its head and then entries, each a frame and its text: the place, the stamp, when it was used, how
// long the text is, and the CRC-32C of all that and the text.
const (
	magic     = "hist lint cache 1\n"
	frameSize = 16 + 16 + 8 + 4 + 4
	suffix    = ".cache"

	usualEntry = 256 // how long one is, in bytes, in a sound home: so much room is made
)

// Bounds of what lies on the disk.
const (
	maxFile = 64 << 20            // bytes of one cache; what was not used for longest goes first
	maxAll  = 256 << 20           // bytes of all of them; those of other programs go, the oldest first
	unused  = 30 * 24 * time.Hour // what was of no use for so long goes
	renew   = 24 * time.Hour      // how exactly it is known when an entry was used
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// readFile reads a cache up to its first entry that is not whole. A file that is none, or of another program, has none.
func readFile(path string, head []byte) (map[place]entry, error) {
	text, err := source.Small(path, maxFile+maxEntry)
	if err != nil || !equalHead(text, head) {
		return nil, err
	}
	text = text[len(head):]
	entries := make(map[place]entry, len(text)/usualEntry)
	for len(text) >= frameSize {
		frame := text[:frameSize]
		size := binary.LittleEndian.Uint32(frame[40:])
		if int64(size) > int64(len(text)-frameSize) {
			break
		}
		body := text[frameSize : frameSize+int(size)]
		if crc32.Update(crc32.Checksum(frame[:44], castagnoli), castagnoli, body) != binary.LittleEndian.Uint32(frame[44:]) {
			break
		}
		entries[place(frame[:16])] = entry{[16]byte(frame[16:32]), int64(binary.LittleEndian.Uint64(frame[32:])), body}
		text = text[frameSize+len(body):]
	}
	return entries, nil
}

func appendEntry(b []byte, at place, e entry) []byte {
	from := len(b)
	b = append(append(b, at[:]...), e.stamp[:]...)
	b = binary.LittleEndian.AppendUint64(b, uint64(e.used))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(e.text)))
	sum := crc32.Update(crc32.Checksum(b[from:], castagnoli), castagnoli, e.text)
	return append(binary.LittleEndian.AppendUint32(b, sum), e.text...)
}

// Close writes what was found to the disk, if anything was. A cache that can't be written is no loss but of time.
func (c *Cache) Close() {
	if c == nil || !c.dirty {
		return
	}
	if err := os.MkdirAll(filepath.Dir(c.file), 0o700); err != nil {
		return
	}
	all, _ := readFile(c.file, c.head) // another process may have added to it
	if all == nil {
		all = map[place]entry{}
	}
	maps.Copy(all, c.fresh)
	if replace(c.file, c.coded(all)) == nil {
		c.dirty = false
		prune(filepath.Dir(c.file), c.file)
	}
}

// coded is the file's text, without what was not used for long and within its bound.
func (c *Cache) coded(all map[place]entry) []byte {
	order := slices.SortedFunc(maps.Keys(all), func(a, b place) int {
		return cmp.Or(cmp.Compare(all[b].used, all[a].used), slices.Compare(a[:], b[:]))
	})
	oldest := time.Now().Add(-unused).Unix()
	text := slices.Clone(c.head)
	for _, at := range order {
		e := all[at]
		if e.used < oldest || len(text)+frameSize+len(e.text) > maxFile {
			break
		}
		text = appendEntry(text, at, e)
	}
	return text
}

// replace writes a file under another name and renames it, so that a reader sees the old one or the new one. It is not
// synced: what a crash leaves of it is found out by its sums.
func replace(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name()) //nolint:errcheck // the first error counts
	}
	return err
}

// lies is a file in the directory of caches.
type lies struct {
	path string
	info fs.FileInfo
}

// list returns the caches of all programs, and what writing them has left, the oldest first. Other files are none of ours.
func list(dir string) []lies {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var files []lies
	for _, e := range entries {
		if name := e.Name(); !strings.HasPrefix(name, "lint-") || !strings.HasSuffix(name, suffix) && !strings.HasSuffix(name, ".tmp") {
			continue
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			files = append(files, lies{filepath.Join(dir, e.Name()), info})
		}
	}
	slices.SortFunc(files, func(a, b lies) int { return a.info.ModTime().Compare(b.info.ModTime()) })
	return files
}

// prune removes caches that nobody has written for long, what a crash left behind, and the oldest beyond the bound.
func prune(dir, own string) {
	files := list(dir)
	var size int64
	for _, f := range files {
		size += f.info.Size()
	}
	for _, f := range files {
		age := time.Since(f.info.ModTime())
		left := strings.HasSuffix(f.path, ".tmp") && age > time.Hour
		if f.path != own && (left || age > unused || size > maxAll) && os.Remove(f.path) == nil {
			size -= f.info.Size()
		}
	}
}

// Status is what lies on the disk.
type Status struct {
	Dir   string
	Files int
	Bytes int64
	Own   int // sessions that this program's cache knows
}

// Look says what lies on the disk.
func Look(version string) (Status, error) {
	dir, err := Dir()
	if err != nil {
		return Status{}, err
	}
	s := Status{Dir: dir}
	for _, f := range list(dir) {
		s.Files++
		s.Bytes += f.info.Size()
	}
	if c := Open(version); c != nil {
		for at := range c.old {
			if at[0]&1 == linted {
				s.Own++
			}
		}
	}
	return s, nil
}

// Clean removes all caches, of other versions, too, and says how many bytes they had.
func Clean() (bytes int64, err error) {
	dir, err := Dir()
	if err != nil {
		return 0, err
	}
	for _, f := range list(dir) {
		if rerr := os.Remove(f.path); rerr != nil && !errors.Is(rerr, fs.ErrNotExist) {
			err = errors.Join(err, rerr)
			continue
		}
		bytes += f.info.Size()
	}
	return bytes, err
}
