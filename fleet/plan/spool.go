package plan

import (
	"bytes"
	"container/heap"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/klauspost/compress/zstd"

	"github.com/hist-cli/hist/fleet/store"
)

// maxHeld is how many bytes of a part are collected in memory before they are written to its temporary file.
const maxHeld = 16 << 10

// objectCost is the cost of one object besides its bytes: as many bytes as could be read in the time that a request takes.
const objectCost = 64 << 10

// spool divides a listing among shards as it comes, without holding it in memory. Each object goes to the shard with the
// least to do, so that shards take about the same time however sizes and keys are distributed.
type spool struct {
	dir   string
	parts []Part
	load  loads
	held  []bytes.Buffer
}

func newSpool(shards int) (*spool, error) {
	dir, err := os.MkdirTemp("", ".hist-fleet-plan-*")
	if err != nil {
		return nil, err
	}
	s := &spool{dir: dir, parts: make([]Part, shards), held: make([]bytes.Buffer, shards)}
	for i := range shards {
		s.load = append(s.load, load{shard: i})
	}
	return s, nil
}

func (s *spool) remove() { os.RemoveAll(s.dir) } //nolint:errcheck // a temporary folder

// add assigns an object to a shard.
func (s *spool) add(e Entry) error {
	least := &s.load[0]
	i := least.shard
	part := &s.parts[i]
	if e.Carried == nil {
		least.bytes += e.Size + objectCost
		part.Objects++
		part.Bytes += e.Size
	} else {
		least.bytes += int64(1+len(e.Carried.Findings)) << 10
		part.Carried++
	}
	heap.Fix(&s.load, 0)
	enc := json.NewEncoder(&s.held[i])
	enc.SetEscapeHTML(false)
	if err := enc.Encode(e); err != nil {
		return err
	}
	if s.held[i].Len() < maxHeld {
		return nil
	}
	return s.flush(i)
}

// flush appends to a part's file. The file is opened only for that, because there may be more parts than a process may have
// files open.
func (s *spool) flush(i int) error {
	f, err := os.OpenFile(s.path(i), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = s.held[i].WriteTo(f)
	return errors.Join(err, f.Close())
}

func (s *spool) path(i int) string { return filepath.Join(s.dir, strconv.Itoa(i)) }

// put writes all parts into the output store.
func (s *spool) put(ctx context.Context, out store.Store, run Run) error {
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		return err
	}
	defer enc.Close()
	for i := range s.parts {
		if err := s.flush(i); err != nil {
			return err
		}
		text, err := os.ReadFile(s.path(i))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		packed := enc.EncodeAll(text, nil)
		sum := sha256.Sum256(packed)
		s.parts[i].SHA256 = hex.EncodeToString(sum[:])
		if err := out.Put(ctx, run.PartKey(i, len(s.parts)), bytes.NewReader(packed), int64(len(packed)), store.Condition{}, nil); err != nil {
			return err
		}
	}
	return nil
}

// load is what a shard has to do so far.
type load struct {
	shard int
	bytes int64
}

// loads is a heap with the smallest on top.
type loads []load

func (l loads) Len() int { return len(l) }
func (l loads) Less(i, j int) bool {
	return l[i].bytes < l[j].bytes || l[i].bytes == l[j].bytes && l[i].shard < l[j].shard
}
func (l loads) Swap(i, j int) { l[i], l[j] = l[j], l[i] }
func (l *loads) Push(x any)   { *l = append(*l, x.(load)) }
func (l *loads) Pop() any {
	last := (*l)[len(*l)-1]
	*l = (*l)[:len(*l)-1]
	return last
}
