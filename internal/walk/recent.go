package walk

import (
	"context"
	"io/fs"
	"os"
	"sync"
	"time"
)

// Recent remembers for a moment what is in directories, for a run that walks over a home and then asks about its directories
// again. It may be used by several goroutines. A nil Recent remembers nothing.
type Recent struct {
	mu     sync.Mutex
	known  map[string]listed
	worked map[string]func() any
}

// listed is what a directory held.
type listed struct {
	entries []fs.DirEntry
	err     error
}

// moment is how long it is remembered, counted from the first directory that was read.
const moment = time.Second

type recentKey struct{}

// Remember returns a context with which Walk, and who asks RecentOf, read no directory twice within a moment.
func Remember(ctx context.Context) context.Context {
	return context.WithValue(ctx, recentKey{}, &Recent{})
}

// RecentOf returns the Recent of a context, nil if it has none.
func RecentOf(ctx context.Context) *Recent {
	r, _ := ctx.Value(recentKey{}).(*Recent)
	return r
}

// ReadDir is os.ReadDir. The entries are shared: they must not be changed.
func (r *Recent) ReadDir(path string) ([]fs.DirEntry, error) {
	if r == nil {
		return os.ReadDir(path)
	}
	r.mu.Lock()
	l, ok := r.known[path]
	r.mu.Unlock()
	if ok {
		return l.entries, l.err
	}
	l.entries, l.err = os.ReadDir(path)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known == nil {
		r.known = map[string]listed{}
		time.AfterFunc(moment, r.forget)
	}
	r.known[path] = l
	return l.entries, l.err
}

// Once is what is worked out from directories. It is not done again within a moment, or within several times as long as it takes.
func (r *Recent) Once(key string, work func() any) any {
	if r == nil {
		return work()
	}
	r.mu.Lock()
	once := r.worked[key]
	if once == nil {
		once = sync.OnceValue(func() any {
			begun := time.Now()
			defer func() {
				time.AfterFunc(max(moment, 8*time.Since(begun)), func() {
					r.mu.Lock()
					defer r.mu.Unlock()
					delete(r.worked, key)
				})
			}()
			return work()
		})
		if r.worked == nil {
			r.worked = map[string]func() any{}
		}
		r.worked[key] = once
	}
	r.mu.Unlock()
	return once()
}

// Knows says whether a directory need not be read for ReadDir.
func (r *Recent) Knows(path string) bool {
	if r == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	_, ok := r.known[path]
	return ok
}

// forget makes room, and has directories read again.
func (r *Recent) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.known = nil
}
