package beside

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"
)

// database is a connection to one of a home's databases.
type database struct {
	*sql.DB
	path     string
	opened   state
	prepared map[string]*sql.Stmt // by their text
	has      map[string][]string  // the columns of tables, as far as somebody asked

	pool  *pool // that it goes back to; nil if it is closed after use
	until time.Time
}

// QueryContext prepares a query the first time. It is for questions that are answered at once: they are not broken off, for a context
// that can end costs two goroutines each.
func (d *database) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	ctx = context.WithoutCancel(ctx)
	stmt := d.prepared[query]
	if stmt == nil {
		var err error
		if stmt, err = d.PrepareContext(ctx, query); err != nil {
			return nil, err
		}
		d.prepared[query] = stmt
	}
	return stmt.QueryContext(ctx, args...)
}

// Close gives a connection back, or ends it.
func (d *database) Close() error {
	if d.pool != nil && time.Now().Before(d.until) {
		d.pool.put(d)
		return nil
	}
	return d.DB.Close()
}

// moment is how long a connection is used: the client should soon be the last again that has its database open, and a
// database that nobody else has open is read as if it never changed.
const moment = time.Second

// pool keeps the connections that a command reads with, so that thousands of questions need as many as there are goroutines.
type pool struct {
	mu    sync.Mutex
	idle  map[string][]*database // by the database's path
	sweep *time.Timer            // closes the idle ones; nil if there are none
}

func newPool() *pool { return &pool{idle: map[string][]*database{}} }

// take returns a connection to a database in a state, nil if there is none.
func (p *pool) take(path string, now state) *database {
	p.mu.Lock()
	defer p.mu.Unlock()
	for n := len(p.idle[path]); n > 0; n-- {
		d := p.idle[path][n-1]
		p.idle[path] = p.idle[path][:n-1]
		if d.opened == now && time.Now().Before(d.until) {
			return d
		}
		d.DB.Close()
	}
	return nil
}

func (p *pool) put(d *database) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle[d.path] = append(p.idle[d.path], d)
	if p.sweep == nil {
		p.sweep = time.AfterFunc(moment, func() { p.Close() })
	}
}

// drop closes the idle connections to a database.
func (p *pool) drop(path string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for _, d := range p.idle[path] {
		errs = append(errs, d.DB.Close())
	}
	delete(p.idle, path)
	return errors.Join(errs...)
}

// Close closes all idle connections.
func (p *pool) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for path, list := range p.idle {
		for _, d := range list {
			errs = append(errs, d.DB.Close())
		}
		delete(p.idle, path)
	}
	if p.sweep != nil {
		p.sweep.Stop()
		p.sweep = nil
	}
	return errors.Join(errs...)
}
