package store

import (
	"context"
	"sync"
	"time"
)

// lasting is a home's database that is open for reading. Code that asks thousands of questions in a row shares one connection.
// The connection is renewed every moment, and as soon as a client begins to write, because a database that nobody else has open
// is read as if it never changed. Whether the home has such a database is also checked only once a moment. It may be used from
// several goroutines.
type lasting[V interface {
	comparable
	close()
}] struct {
	home, file string
	look       func(ctx context.Context, home string) (V, error) // opens the database; the zero value if the home has none

	mu     sync.Mutex
	asked  int
	open   bool
	path   string // the database's path, as the client's config said when it was opened
	opened state
	view   V
}

const (
	fewAsked = 8 // up to so many questions use a connection each, and leave none open
	moment   = time.Second
)

// ask calls do with the open database; if the home has none, it does nothing.
func (l *lasting[V]) ask(ctx context.Context, do func(V) error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var none V
	if l.asked++; l.asked <= fewAsked {
		v, err := l.look(ctx, l.home)
		if v == none || err != nil {
			return err
		}
		defer v.close()
		return do(v)
	}
	if l.open && l.view != none && l.opened != stateOf(l.path) { // that there is no database also counts for the moment
		l.shut()
	}
	if !l.open {
		l.path = pathOf(l.home, l.file)
		now := stateOf(l.path)
		v, err := l.look(ctx, l.home)
		if err != nil {
			return err
		}
		l.view, l.open, l.opened = v, true, now
		time.AfterFunc(moment, func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.shut()
		})
	}
	if l.view == none {
		return nil
	}
	return do(l.view)
}

func (l *lasting[V]) shut() {
	var none V
	if l.view != none {
		l.view.close()
	}
	l.open, l.view = false, none
}
