package store

import (
	"context"
	"sync"
	"time"
)

// lasting is a database of a home that is open to be read. Who asks it thousands of questions in a row does so over one
// connection, which is made anew every moment, and as soon as a client begins to write: a database that nobody has open is
// taken for one that never changes. Whether there is one is looked for once a moment, too. It may be asked by several goroutines.
type lasting[V interface {
	comparable
	close()
}] struct {
	home, file string
	look       func(ctx context.Context, home string) (V, error) // opens it; the zero value if the home has no such database

	mu     sync.Mutex
	asked  int
	open   bool
	path   string // of the database, as the client's config said when it was opened
	opened state
	view   V
}

const (
	fewAsked = 8 // so many are asked one by one: nothing is left open behind them
	moment   = time.Second
)

// ask calls do with the open database, and not at all if the home has none.
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
	if l.open && l.view != none && l.opened != stateOf(l.path) { // that there is none is known for the moment
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
