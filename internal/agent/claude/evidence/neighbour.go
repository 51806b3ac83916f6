package evidence

import (
	"bytes"
	"cmp"
	"hash/maphash"
	"io"
	"os"
	"slices"

	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/agent/claude/home"
	"github.com/hist-cli/hist/internal/disk"
	"github.com/hist-cli/hist/internal/jsonl"
)

// maxNamed is how many records of other files are indexed, by their ids. What is beyond that is not searched.
const maxNamed = 4 << 20

// indexed are files whose records were looked for, for all sessions beside which they lie.
var indexed = disk.Recall[[]named]{Limit: maxNamed}

// neighbours are the files beside a session, indexed as far as they were searched. Each is read only once, for everything that
// is looked for: a session may have lost many records, and have much beside it.
type neighbours struct {
	open func(path string) (file, error) // regular.Open, but in tests
	of   map[string][]named
	left int // how many more records may be indexed
}

// file is what is needed of a neighbour's file.
type file interface {
	io.ReadCloser
	io.ReaderAt
}

// named is where a line of a neighbour stands, by an id that it names.
type named struct{ sum, offset, size uint32 } // no line begins behind MaxFile

func (a named) compare(b named) int {
	return cmp.Or(cmp.Compare(a.sum, b.sum), cmp.Compare(a.offset, b.offset))
}

func newNeighbours() neighbours {
	return neighbours{
		open: func(path string) (file, error) { return disk.Open(path) },
		of:   map[string][]named{}, left: maxNamed,
	}
}

// find returns the first line of a file that fits and that is the record with an id, or holds the output of the call with it;
// nil if there is none.
func (n *neighbours) find(path, id string, fits func([]byte) bool) []byte {
	list, known := n.of[path]
	if !known && n.left > 0 {
		list = indexed.Of(path, func() ([]named, int) {
			list := n.read(path)
			return list, len(list)
		})
		n.of[path], n.left = list, n.left-len(list)
	}
	sum := shortSum([]byte(id))
	at, _ := slices.BinarySearchFunc(list, named{sum: sum}, named.compare)
	if at == len(list) || list[at].sum != sum {
		return nil
	}
	text, err := n.open(path)
	if err != nil {
		return nil
	}
	defer text.Close()
	words, spans := []byte(`"`+id+`"`), make([]jsonl.Span, format.FieldCount)
	for ; at < len(list) && list[at].sum == sum; at++ {
		line := make([]byte, list[at].size)
		if _, err := text.ReadAt(line, int64(list[at].offset)); err != nil || !bytes.Contains(line, words) {
			continue // the file has changed since, or another id has the same hash
		}
		if v := format.Shape.ScanOne(line, spans); v.Fault == jsonl.None && v.Object && fits(line) {
			return line
		}
	}
	return nil
}

// read indexes the records of a file that may be looked for.
func (n *neighbours) read(path string) (list []named) {
	text, err := n.open(path)
	if err != nil {
		return nil
	}
	defer text.Close()
	in := jsonl.NewReader(io.LimitReader(text, home.MaxFile))
	for len(list) < maxNamed {
		l, err := in.Next()
		if err != nil {
			break
		}
		for _, key := range idKeys {
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

// idKeys are the keys of the ids by which records are looked for in other files.
var idKeys = [][]byte{[]byte(`"uuid"`), []byte(`"tool_use_id"`)}

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

func shortSum(id []byte) uint32 { return uint32(maphash.Bytes(content.NodeSeed, id)) }

var _ file = (*os.File)(nil)
