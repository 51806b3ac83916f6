package agent

import (
	"bytes"
	"cmp"
	"hash/maphash"
	"io"
	"iter"
	"slices"

	"github.com/hist-cli/hist/internal/disk"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// MaxSibling is up to how many bytes a file beside a session is looked into.
const MaxSibling = 64 << 20

// maxNamed is how many records of other files are indexed, by their ids. What is beyond that is not searched.
const maxNamed = 4 << 20

// Index says where records stand in the files of an agent, by the ids that they name: for all sessions beside which these files lie.
type Index struct {
	decoder session.Decoder
	keys    [][]byte
	files   disk.Recall[[]named]
}

// NewIndex is an index by the texts that stand under some keys, wherever in a record.
func NewIndex(decoder session.Decoder, keys ...string) *Index {
	x := &Index{decoder: decoder, files: disk.Recall[[]named]{Limit: maxNamed}}
	for _, key := range keys {
		x.keys = append(x.keys, []byte(`"`+key+`"`))
	}
	return x
}

// Siblings are the files beside one session, as far as they were searched. Each is read only once, for everything that is looked for: a
// session may have lost many records, and have much beside it.
type Siblings struct {
	index *Index
	open  func(path string) (siblingFile, error) // disk.Open, but in tests
	of    map[string][]named
	left  int // how many more records may be indexed
}

// siblingFile is what is needed of a file beside a session.
type siblingFile interface {
	io.ReadCloser
	io.ReaderAt
}

// named is where a line of a file stands, by an id that it names.
type named struct{ sum, offset, size uint32 } // no line begins behind MaxSibling

func (a named) compare(b named) int {
	return cmp.Or(cmp.Compare(a.sum, b.sum), cmp.Compare(a.offset, b.offset))
}

// Siblings are the files beside a session.
func (x *Index) Siblings() *Siblings {
	open := func(path string) (siblingFile, error) { return disk.Open(path) }
	return &Siblings{index: x, open: open, of: map[string][]named{}, left: maxNamed}
}

// Find returns the first line of a file that names an id and that fits; nil if there is none.
func (s *Siblings) Find(path, id string, fits func([]byte) bool) []byte {
	for line := range s.Naming(path, id) {
		if fits(line) {
			return line
		}
	}
	return nil
}

// Naming are the lines of a file that name an id, in their order.
func (s *Siblings) Naming(path, id string) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		list, known := s.of[path]
		if !known && s.left > 0 {
			list = s.index.files.Of(path, func() ([]named, int) {
				list := s.read(path)
				return list, len(list)
			})
			s.of[path], s.left = list, s.left-len(list)
		}
		sum := shortSum([]byte(id))
		at, _ := slices.BinarySearchFunc(list, named{sum: sum}, named.compare)
		if at == len(list) || list[at].sum != sum {
			return
		}
		text, err := s.open(path)
		if err != nil {
			return
		}
		defer text.Close()
		words, spans := []byte(`"`+id+`"`), make([]jsonl.Span, s.index.decoder.Paths())
		for ; at < len(list) && list[at].sum == sum; at++ {
			line := make([]byte, list[at].size)
			if _, err := text.ReadAt(line, int64(list[at].offset)); err != nil || !bytes.Contains(line, words) {
				continue // the file has changed since, or another id has the same hash
			}
			if v := s.index.decoder.Shape().ScanOne(line, spans); v.Fault == jsonl.None && v.Object && !yield(line) {
				return
			}
		}
	}
}

// read indexes the records of a file that may be looked for.
func (s *Siblings) read(path string) (list []named) {
	text, err := s.open(path)
	if err != nil {
		return nil
	}
	defer text.Close()
	in := jsonl.NewReader(io.LimitReader(text, MaxSibling))
	for len(list) < maxNamed {
		l, err := in.Next()
		if err != nil {
			break
		}
		for _, key := range s.index.keys {
			for id := range valuesOf(l.Raw, key) {
				if len(list) < maxNamed {
					list = append(list, named{shortSum(id), uint32(l.Offset), uint32(len(l.Raw))})
				}
			}
		}
	}
	slices.SortFunc(list, named.compare)
	return slices.Clip(slices.Compact(list))
}

// valuesOf yields the quoted strings that follow a quoted key, wherever the key stands in a line.
func valuesOf(line, key []byte) func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for {
			at := bytes.Index(line, key)
			if at < 0 {
				return
			}
			line = bytes.TrimLeft(line[at+len(key):], " \t\r")
			value, ok := bytes.CutPrefix(line, []byte(":"))
			if !ok {
				continue
			}
			if value, ok = bytes.CutPrefix(bytes.TrimLeft(value, " \t\r"), []byte(`"`)); !ok {
				continue
			}
			if end := bytes.IndexByte(value, '"'); end >= 0 && !yield(value[:end]) {
				return
			}
		}
	}
}

var idSeed = maphash.MakeSeed()

func shortSum(id []byte) uint32 { return uint32(maphash.Bytes(idSeed, id)) }
