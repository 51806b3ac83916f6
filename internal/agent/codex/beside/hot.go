package beside

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

	"github.com/hist-cli/hist/internal/disk"
)

// A program that is killed while it writes to a database without a -wal file leaves what it has written so far, and a journal with what
// was there before. The next one that opens the database for writing takes that back. Who only reads must not, and would read rows
// that were never committed: hist then reads a copy in which they were taken back, so that lint leaves the home as it is, and a repair
// or an undo finds the same rows when it writes.

// hot says whether a database has to be taken back before it can be read.
func hot(ctx context.Context, path string) bool {
	const rollback = 776 // SQLITE_READONLY_ROLLBACK
	db, err := sql.Open("sqlite", dsn(path, url.Values{"mode": {string(readOnly)}}))
	if err != nil {
		return false
	}
	defer db.Close()
	var told *sqlite.Error
	return errors.As(schemaVersion(ctx, db), &told) && told.Code() == rollback
}

// schemaVersion asks for the least that makes SQLite look at a database and its journal.
func schemaVersion(ctx context.Context, db *sql.DB) error {
	var version int
	return db.QueryRowContext(ctx, "PRAGMA schema_version").Scan(&version)
}

// takenBack opens a copy of a hot database in which the write is taken back. A command makes one for each state of the database,
// however many sessions it looks up there. The error is errNotHot if the database can be read as it is.
func takenBack(ctx context.Context, path string) (*sql.DB, error) {
	if _, err := os.Stat(path + "-journal"); err != nil {
		return nil, errNotHot
	}
	now, _ := stateOf(path)
	journal, _ := stateOf(path + "-journal")
	state := fmt.Sprint(now, journal)
	dir, release, err := disk.Scratch(ctx, path, state, func(dir string) error { return takeBack(ctx, dir, path) })
	if errors.Is(err, errNotHot) {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("copying %s, whose program was killed: %w; set TMPDIR to a larger disk", path, err)
	}
	return sql.OpenDB(&copied{name: dsn(filepath.Join(dir, filepath.Base(path)), url.Values{"mode": {string(readOnly)}}), release: release}), nil
}

// takeBack copies a hot database to a directory, and has SQLite take the write back there.
func takeBack(ctx context.Context, dir, path string) error {
	if !hot(ctx, path) {
		return errNotHot
	}
	held := filepath.Join(dir, filepath.Base(path))
	for _, suffix := range []string{"", "-journal"} {
		if err := duplicate(held+suffix, path+suffix); errors.Is(err, fs.ErrNotExist) {
			return errNotHot
		} else if err != nil {
			return err
		}
	}
	if !hot(ctx, path) { // somebody has taken it back meanwhile
		return errNotHot
	}
	db, err := sql.Open("sqlite", dsn(held, url.Values{"mode": {string(readWrite)}}))
	if err != nil {
		return err
	}
	return errors.Join(schemaVersion(ctx, db), db.Close())
}

// errNotHot says that no write has to be taken back.
var errNotHot = errors.New("the database is not hot")

// copied connects to a copy, and lets go of it in the end.
type copied struct {
	name    string
	release func()
}

func (c *copied) Connect(context.Context) (driver.Conn, error) { return c.Driver().Open(c.name) }

func (*copied) Driver() driver.Driver { return &sqlite.Driver{} }

func (c *copied) Close() error {
	c.release()
	return nil
}

// maxHot is how many bytes a database may have that is copied.
const maxHot = 8 << 30

func duplicate(to, from string) (err error) {
	in, err := disk.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	if info, err := in.Stat(); err != nil || info.Size() > maxHot {
		return errors.Join(err, fmt.Errorf("%w: it has more than %d GiB", errSchema, maxHot>>30))
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
