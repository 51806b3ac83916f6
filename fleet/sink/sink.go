// Package sink writes rows for other programs to read: Parquet files in a store, one of each kind for every shard.
//
// A file's name depends only on the run and the shard, so a shard that is done again replaces what it wrote before.
package sink

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/parquet-go/parquet-go"

	"github.com/hist-cli/hist/fleet/store"
	"github.com/hist-cli/hist/fleet/work"
)

// rowGroup is how many rows are held before they are written.
const rowGroup = 10_000

// Parquet collects rows in temporary files until Put writes them to the store.
type Parquet struct {
	sessions file[work.SessionRow]
	findings file[work.FindingRow]
}

// file is a Parquet file that is being written.
type file[T any] struct {
	temp *os.File
	w    *parquet.GenericWriter[T]
	held []T
}

func newFile[T any]() (file[T], error) {
	temp, err := os.CreateTemp("", ".hist-fleet-*.parquet")
	if err != nil {
		return file[T]{}, fmt.Errorf("creating a temporary file for rows (TMPDIR says where): %w", err)
	}
	return file[T]{temp: temp, w: parquet.NewGenericWriter[T](temp, parquet.Compression(&parquet.Zstd), parquet.MaxRowsPerRowGroup(rowGroup))}, nil
}

func (f *file[T]) add(rows ...T) error {
	f.held = append(f.held, rows...)
	if len(f.held) < rowGroup {
		return nil
	}
	return f.flush()
}

func (f *file[T]) flush() error {
	_, err := f.w.Write(f.held)
	f.held = f.held[:0]
	return err
}

// put completes the file and writes it to the store.
func (f *file[T]) put(ctx context.Context, to store.Store, key string) error {
	if err := errors.Join(f.flush(), f.w.Close()); err != nil {
		return err
	}
	size, err := f.temp.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if _, err := f.temp.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return to.Put(ctx, key, f.temp, size, store.Condition{}, nil)
}

func (f *file[T]) discard() {
	if f.temp != nil {
		f.temp.Close()
		os.Remove(f.temp.Name()) //nolint:errcheck // nothing more can be done
	}
}

// NewParquet begins the files of a shard. Discard must be called at the end, whatever happens.
func NewParquet() (*Parquet, error) {
	p := &Parquet{}
	var err error
	if p.sessions, err = newFile[work.SessionRow](); err != nil {
		return nil, err
	}
	if p.findings, err = newFile[work.FindingRow](); err != nil {
		p.Discard()
		return nil, err
	}
	return p, nil
}

// Add adds the rows of one object.
func (p *Parquet) Add(res work.Result) error {
	if err := p.sessions.add(res.Session); err != nil {
		return err
	}
	return p.findings.add(res.Findings...)
}

// Put writes both files to the store. The sessions come last, so that if they exist, the shard is complete.
func (p *Parquet) Put(ctx context.Context, to store.Store, sessions, findings string) error {
	if err := p.findings.put(ctx, to, findings); err != nil {
		return fmt.Errorf("writing %s/%s: %w", to.URL(), findings, err)
	}
	if err := p.sessions.put(ctx, to, sessions); err != nil {
		return fmt.Errorf("writing %s/%s: %w", to.URL(), sessions, err)
	}
	return nil
}

// Discard removes the temporary files.
func (p *Parquet) Discard() {
	p.sessions.discard()
	p.findings.discard()
}

// Sessions reads a file of session rows in a store, in its order.
func Sessions(ctx context.Context, from store.Store, key string, each func(work.SessionRow) error) error {
	return read(ctx, from, key, each)
}

// Findings reads a file of finding rows in a store, in its order.
func Findings(ctx context.Context, from store.Store, key string, each func(work.FindingRow) error) error {
	return read(ctx, from, key, each)
}

func read[T any](ctx context.Context, from store.Store, key string, each func(T) error) error {
	temp, err := fetch(ctx, from, key)
	if err != nil {
		return fmt.Errorf("%s/%s: %w", from.URL(), key, err)
	}
	defer os.Remove(temp.Name()) //nolint:errcheck // nothing more can be done
	defer temp.Close()
	if err := rows(temp, each); err != nil {
		return fmt.Errorf("%s/%s: %w", from.URL(), key, err)
	}
	return nil
}

// fetch copies an object into a temporary file, because Parquet is read from its end.
func fetch(ctx context.Context, from store.Store, key string) (*os.File, error) {
	body, err := from.Get(ctx, key, "")
	if err != nil {
		return nil, err
	}
	defer body.Close()
	temp, err := os.CreateTemp("", ".hist-fleet-*.parquet")
	if err != nil {
		return nil, err
	}
	if _, err := io.Copy(temp, body); err != nil {
		temp.Close()
		os.Remove(temp.Name()) //nolint:errcheck // nothing more can be done
		return nil, err
	}
	return temp, nil
}

func rows[T any](f *os.File, each func(T) error) (err error) {
	defer func() { // the library panics on some files that are not Parquet
		if p := recover(); p != nil {
			err = fmt.Errorf("not a readable Parquet file: %v", p)
		}
	}()
	r := parquet.NewGenericReader[T](f)
	defer r.Close()
	buf := make([]T, 256)
	for {
		n, err := r.Read(buf)
		for i := range n {
			if err := each(buf[i]); err != nil {
				return err
			}
		}
		clear(buf[:n])
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
