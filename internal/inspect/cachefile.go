package inspect

import (
	"bytes"
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

	"github.com/hist-cli/hist/internal/disk"
	"github.com/hist-cli/hist/internal/source"
)

// A cache's file is its head followed by entries, each a frame and a text. A frame holds the key, the state, that by rows, when the entry
// was last used, the text's length, and the CRC-32C of all that and the text.
const (
	magic     = "hist lint cache 2\n"
	frameSize = 3*16 + 8 + 4 + 4
	suffix    = ".cache"

	usualEntry = 256 // usual size of an entry in a home without findings, in bytes; by it the map is allocated
)

// Limits of what is kept on the disk.
const (
	maxFile       = 64 << 20            // size of one cache in bytes; the entries that were not used for longest are dropped first
	maxAll        = 256 << 20           // size of all caches in bytes; those of other builds are removed, the oldest first
	maxUnused     = 30 * 24 * time.Hour // how long an unused entry, or a cache that is not written, is kept
	usedPrecision = 24 * time.Hour      // an entry's time of use is updated only if it is older than this
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// readCache reads a cache up to the first entry that is incomplete or damaged. A file that is not a cache of this program has
// no entries.
func readCache(path string, head []byte) (map[key]entry, error) {
	text, err := source.Small(path, maxFile+maxEntry)
	text, own := bytes.CutPrefix(text, head)
	if err != nil || !own {
		return nil, err
	}
	entries := make(map[key]entry, len(text)/usualEntry)
	for len(text) >= frameSize {
		frame := text[:frameSize]
		size := binary.LittleEndian.Uint32(frame[56:])
		if int64(size) > int64(len(text)-frameSize) {
			break
		}
		body := text[frameSize : frameSize+int(size)]
		if crc32.Update(crc32.Checksum(frame[:60], castagnoli), castagnoli, body) != binary.LittleEndian.Uint32(frame[60:]) {
			break
		}
		entries[key(frame[:16])] = entry{sum(frame[16:32]), sum(frame[32:48]), int64(binary.LittleEndian.Uint64(frame[48:])), body}
		text = text[frameSize+len(body):]
	}
	return entries, nil
}

func appendEntry(b []byte, k key, e entry) []byte {
	from := len(b)
	b = append(append(append(b, k[:]...), e.state[:]...), e.rows[:]...)
	b = binary.LittleEndian.AppendUint64(b, uint64(e.used))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(e.text)))
	sum := crc32.Update(crc32.Checksum(b[from:], castagnoli), castagnoli, e.text)
	return append(binary.LittleEndian.AppendUint32(b, sum), e.text...)
}

// Close writes the cache to the disk, if anything is new. If that fails only time is lost.
func (c *Cache) Close() {
	if c == nil || !c.dirty {
		return
	}
	if err := os.MkdirAll(filepath.Dir(c.file), 0o700); err != nil {
		return
	}
	all, _ := readCache(c.file, c.head) // another process may have added to it meanwhile
	if all == nil {
		all = map[key]entry{}
	}
	maps.Copy(all, c.fresh)
	if replace(c.file, c.coded(all)) == nil {
		c.dirty = false
		prune(filepath.Dir(c.file), c.file)
	}
}

// coded returns the file's content: the entries that were used last, up to maxFile.
func (c *Cache) coded(all map[key]entry) []byte {
	order := slices.SortedFunc(maps.Keys(all), func(a, b key) int {
		return cmp.Or(cmp.Compare(all[b].used, all[a].used), slices.Compare(a[:], b[:]))
	})
	oldest := time.Now().Add(-maxUnused).Unix()
	text := slices.Clone(c.head)
	for _, k := range order {
		e := all[k]
		if e.used < oldest || len(text)+frameSize+len(e.text) > maxFile {
			break
		}
		text = appendEntry(text, k, e)
	}
	return text
}

// replace writes a file under a temporary name and renames it, so that a reader sees either the old one or the new one. It
// does not sync: if a crash damages the file, its checksums show that.
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

// cacheFile is a file in the directory of caches.
type cacheFile struct {
	path string
	info fs.FileInfo
}

// list returns the caches of all builds and the temporary files of interrupted writes, the oldest first. It leaves out other
// files.
func list(dir string) []cacheFile {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var files []cacheFile
	for _, e := range entries {
		if name := e.Name(); !strings.HasPrefix(name, "lint-") || !strings.HasSuffix(name, suffix) && !strings.HasSuffix(name, ".tmp") {
			continue
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			files = append(files, cacheFile{filepath.Join(dir, e.Name()), info})
		}
	}
	slices.SortFunc(files, func(a, b cacheFile) int { return a.info.ModTime().Compare(b.info.ModTime()) })
	return files
}

// prune removes caches that have not been written for maxUnused, left-over temporary files, and the oldest caches as long as
// all together are larger than maxAll. It keeps own.
func prune(dir, own string) {
	files := list(dir)
	var size int64
	for _, f := range files {
		size += f.info.Size()
	}
	for _, f := range files {
		age := time.Since(f.info.ModTime())
		left := strings.HasSuffix(f.path, ".tmp") && age > time.Hour
		if f.path != own && (left || age > maxUnused || size > maxAll) && os.Remove(f.path) == nil {
			size -= f.info.Size()
		}
	}
}

// Status describes the caches on the disk.
type Status struct {
	Dir   string
	Files int
	Bytes int64
	Own   int // how many sessions this program's cache knows
}

// CacheStats returns the status of the caches.
func CacheStats(version string) (Status, error) {
	dir, err := disk.CacheDir()
	if err != nil {
		return Status{}, err
	}
	s := Status{Dir: dir}
	for _, f := range list(dir) {
		s.Files++
		s.Bytes += f.info.Size()
	}
	if c := OpenCache(version); c != nil {
		for k := range c.old {
			if k[0]&1 == linted {
				s.Own++
			}
		}
	}
	return s, nil
}

// CleanCache removes all caches, also those of other versions, and returns how many bytes they had.
func CleanCache() (bytes int64, err error) {
	dir, err := disk.CacheDir()
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
