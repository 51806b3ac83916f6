package disk

import (
	"context"
	"io"
	"os"
	"reflect"
	"sync"
)

// WithScratch returns a context that shares directories made by Scratch and what Shared returns, and a function that removes them all. It must be called when
// nothing uses them any more.
func WithScratch(ctx context.Context) (shared context.Context, remove func()) {
	s := &shelf{dirs: map[string]*dir{}, shared: map[reflect.Type]io.Closer{}}
	return context.WithValue(ctx, shelfKey{}, s), s.clear
}

// Scratch returns the temporary directory of a name, as make has filled it, and a function that must be called when it is no longer
// used. If the context shares directories, make is called once for each state of what the directory is made from, and an error
// of its is remembered for that state; the directory must not be written to. Otherwise it is made for this call alone.
func Scratch(ctx context.Context, name, state string, make func(dir string) error) (path string, release func(), err error) {
	s, shared := ctx.Value(shelfKey{}).(*shelf)
	if !shared {
		d := &dir{outdated: true}
		if err := d.make(make); err != nil {
			return "", nil, err
		}
		d.users++
		return d.path, func() { (&shelf{}).release(d) }, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.dirs[name]
	if d == nil || d.state != state {
		if d != nil {
			d.outdated = true
			d.remove()
		}
		d = &dir{state: state}
		d.err = d.make(make)
		s.dirs[name] = d
	}
	if d.err != nil {
		return "", nil, d.err
	}
	d.users++
	return d.path, func() { s.release(d) }, nil
}

// Shared returns the one T that a context shares, which make makes if there is none yet, and which is closed when the directories are
// removed. If the context shares nothing, ok is false.
func Shared[T io.Closer](ctx context.Context, make func() T) (one T, ok bool) {
	s, ok := ctx.Value(shelfKey{}).(*shelf)
	if !ok {
		return one, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	of := reflect.TypeFor[T]()
	if s.shared[of] == nil {
		s.shared[of] = make()
	}
	return s.shared[of].(T), true
}

type shelfKey struct{}

// shelf holds the directories of a context by name, one for each: the newest. And of each type what is shared.
type shelf struct {
	mu     sync.Mutex
	dirs   map[string]*dir
	shared map[reflect.Type]io.Closer
}

type dir struct {
	path, state string
	err         error
	users       int
	outdated    bool // it goes with its last user
}

func (d *dir) make(fill func(dir string) error) (err error) {
	if d.path, err = os.MkdirTemp("", "hist-"); err != nil {
		return err
	}
	if err = fill(d.path); err != nil {
		os.RemoveAll(d.path)
	}
	return err
}

func (d *dir) remove() {
	if d.outdated && d.users == 0 && d.err == nil {
		os.RemoveAll(d.path)
	}
}

func (s *shelf) release(d *dir) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d.users--
	d.remove()
}

func (s *shelf) clear() {
	s.mu.Lock()
	shared := s.shared
	s.shared = map[reflect.Type]io.Closer{}
	s.mu.Unlock()
	for _, one := range shared {
		one.Close() // it may still use a directory
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.dirs {
		if d.err == nil {
			os.RemoveAll(d.path)
		}
	}
}
