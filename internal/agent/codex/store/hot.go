package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"modernc.org/sqlite"

	"github.com/hist-cli/hist/internal/regular"
)

// A program that is killed while it writes to a database without a -wal file leaves what it has written so far, and a journal with what
// was there before. The next one that opens the database for writing takes that back. Who only reads must not, and would read rows
// that were never committed: hist then reads a copy in which they were taken back, so that lint leaves the home as it is, and a repair
// or an undo finds the same rows when it writes.

// hot says whether a database has to be taken back before it can be read.
func hot(ctx context.Context, path string) bool {
	const rollback = 776 // SQLITE_READONLY_ROLLBACK
	if _, err := os.Stat(path + "-journal"); err != nil {
		return false
	}
	db, err := sql.Open("sqlite", dsn(path, url.Values{"mode": {string(readOnly)}}))
	if err != nil {
		return false
	}
	defer db.Close()
	var version int
	var told *sqlite.Error
	err = db.QueryRowContext(ctx, "PRAGMA schema_version").Scan(&version)
	return errors.As(err, &told) && told.Code() == rollback
}

// takenBack opens a copy of a hot database, which goes when the database is closed.
func takenBack(ctx context.Context, path string) (db *sql.DB, err error) {
	dir, err := os.MkdirTemp("", "hist-database-")
	if err != nil {
		return nil, fmt.Errorf("copying a database whose program was killed: %w (set TMPDIR to another folder)", err)
	}
	defer func() {
		if err != nil {
			os.RemoveAll(dir)
		}
	}()
	held := filepath.Join(dir, filepath.Base(path))
	for _, suffix := range []string{"", "-journal"} {
		if err := duplicate(held+suffix, path+suffix); errors.Is(err, fs.ErrNotExist) {
			return nil, errSettled
		} else if err != nil {
			return nil, fmt.Errorf("copying a database whose program was killed: %w (set TMPDIR to a larger disk)", err)
		}
	}
	if !hot(ctx, path) {
		return nil, errSettled
	}
	return sql.OpenDB(&copied{name: dsn(held, url.Values{"mode": {string(readWrite)}}), dir: dir}), nil
}

// errSettled says that somebody has taken a hot database back while it was copied.
var errSettled = errors.New("the database was taken back")

// copied connects to a database in a folder of its own, which it removes.
type copied struct{ name, dir string }

func (c *copied) Connect(context.Context) (driver.Conn, error) { return c.Driver().Open(c.name) }

func (*copied) Driver() driver.Driver { return &sqlite.Driver{} }

func (c *copied) Close() error { return os.RemoveAll(c.dir) }

func duplicate(to, from string) (err error) {
	in, err := regular.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
