package disk

import (
	"os"
	"sync"
	"time"
)

// Recall keeps what was read of files or folders, by their paths, until their own sizes or times change (that of a folder does not where a file in it
// is written to): the sessions of a folder look into
// the same ones, and would read them as often as there are sessions. It may be used by several goroutines.
type Recall[T any] struct {
	// Limit is how much is kept in all, in the unit in which read tells a size. Where there would be more, what was kept is forgotten.
	Limit int

	mu   sync.Mutex
	of   map[string]recalled[T]
	size int
}

type recalled[T any] struct {
	size, changed int64
	what          T
	much          int // of Limit
}

// settled is how long ago a file must have changed for what was read of it to be kept: a change right behind another may leave the time as it is
// (FAT knows every second second only).
const settled = 2 * time.Second

// Of is what read returns for the file or folder at a path, which is shared: it must not be changed.
func (r *Recall[T]) Of(path string, read func() (what T, size int)) T {
	info, err := os.Stat(path)
	if err != nil {
		what, _ := read()
		return what
	}
	now := recalled[T]{size: info.Size(), changed: info.ModTime().UnixNano()}
	r.mu.Lock()
	last, ok := r.of[path]
	r.mu.Unlock()
	if ok && last.size == now.size && last.changed == now.changed {
		return last.what
	}
	what, size := read()
	if now.what, now.much = what, max(1, size); time.Since(info.ModTime()).Abs() < settled {
		return what
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.size += now.much - r.of[path].much; r.of == nil || r.size > r.Limit {
		r.of, r.size = map[string]recalled[T]{}, now.much
	}
	r.of[path] = now
	return what
}
