package beside

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	_ "modernc.org/sqlite" // the driver: pure Go, so that hist stays one static binary

	"github.com/hist-cli/hist/internal/agent"
	codexhome "github.com/hist-cli/hist/internal/agent/codex/home"
	"github.com/hist-cli/hist/internal/disk"
)

// errSchema is agent.ErrSchema.
var errSchema = agent.ErrSchema

// access is what a database is opened for.
type access string

const (
	readOnly  access = "ro"
	readWrite access = "rw"
)

// unlocked is SQLite's name for file access without locks.
var unlocked = map[bool]string{false: "unix-none", true: "win32-none"}[runtime.GOOS == "windows"]

// open opens one of a home's databases; nil if there is none. The error is errSchema if it is not of the form that clients
// make (see schema.go). Reading leaves no trace: a database that nobody has
// open (its client removes the -wal file when it ends) is read without a lock and without the -wal and -shm files
// that SQLite would make. So is one with a -wal file that has lost its -shm file, as in a copy of a home: what SQLite would
// keep in that is kept in memory. One that is open is read beside its writers, which never wait for a reader.
//
// In a context that shares things (scratch.With), who reads gets a connection that is open already, if nothing has changed since.
func open(ctx context.Context, home, name string, want access) (*database, string, error) {
	path := filepath.Join(codexhome.Databases(home), name)
	now, err := stateOf(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, path, nil
	}
	p, shared := disk.Shared(ctx, newPool)
	if shared && want == readOnly {
		if db := p.take(path, now); db != nil {
			return db, path, nil
		}
	} else if shared {
		p.drop(path) // SQLite does not tidy up behind who writes as long as somebody else reads
	}
	db, err := connect(ctx, path, want)
	if err != nil {
		return nil, path, err
	}
	d := &database{DB: db, path: path, opened: now, prepared: map[string]*sql.Stmt{}, has: map[string][]string{}}
	if shared && want == readOnly {
		d.pool, d.until = p, time.Now().Add(moment)
	}
	return d, path, nil
}

// connect opens a database that is there.
func connect(ctx context.Context, path string, want access) (*sql.DB, error) {
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} { // SQLite would wait for ever for a named pipe's writer
		if err := disk.Check(path + suffix); errors.Is(err, disk.ErrOther) {
			return nil, fmt.Errorf("opening %s: %w", path+suffix, disk.ErrOther)
		}
	}
	patience := 3000 // ms, for a client that is writing
	if want == readOnly {
		patience = 200
	}
	q := url.Values{"mode": {string(want)}, "_pragma": {fmt.Sprintf("busy_timeout(%d)", patience)}}
	if want == readWrite {
		q.Set("_txlock", "immediate") // a read that leads to a write must not be overtaken
	}
	if want == readOnly {
		if db, err := takenBack(ctx, path); err == nil {
			return checked(ctx, db, path, want)
		} else if !errors.Is(err, errNotHot) {
			return nil, err
		}
		alone(q, path)
	}
	db, err := sql.Open("sqlite", dsn(path, q))
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", path, err)
	}
	return checked(ctx, db, path, want)
}

// checked returns a database that has the form of a client's, or closes it.
func checked(ctx context.Context, db *sql.DB, path string, want access) (*sql.DB, error) {
	if err := limit(ctx, db); err != nil {
		db.Close()
		return nil, fmt.Errorf("opening %s: %w", path, sqlError(err))
	}
	if err := form(ctx, db, path, want); err != nil {
		db.Close()
		return nil, err
	}
	return db, nil
}

// dsn names a database for the driver.
func dsn(path string, q url.Values) string {
	return (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: q.Encode()}).String()
}

// alone sets, in a query, how to read a database that nobody has open; if somebody has, it changes nothing.
func alone(q url.Values, path string) {
	missing := func(suffix string) bool {
		_, err := os.Stat(path + suffix)
		return errors.Is(err, fs.ErrNotExist)
	}
	switch {
	case missing("-wal"):
		q.Set("immutable", "1")
	case missing("-shm"): // without shared memory, SQLite wants exclusive access, whose lock a file opened for reading can't have
		q.Set("vfs", unlocked)
		q.Add("_pragma", "locking_mode(exclusive)")
	}
}

// pathOf is the path of a home's database, whether it exists or not.
func pathOf(home, name string) string { return filepath.Join(codexhome.Databases(home), name) }

// state shows, without opening it, whether a database is still the one that was read.
type state struct {
	bytes   int64
	changed time.Time
	inUse   bool // a client has it open, and writes to the -wal file
	journal bool // a write without one has not ended
}

func stateOf(path string) (s state, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return s, err
	}
	s.bytes, s.changed = info.Size(), info.ModTime()
	_, wal := os.Stat(path + "-wal")
	_, journal := os.Stat(path + "-journal")
	s.inUse, s.journal = wal == nil, journal == nil
	return s, nil
}

// querier is a database or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// columns returns the names of a table's columns, none if there is no such table.
func columns(ctx context.Context, db querier, path, table string) (names []string, err error) {
	d, _ := db.(*database)
	if d != nil && d.has[table] != nil {
		return d.has[table], nil
	}
	err = query(ctx, db, path, func(rows *row) error {
		var name string
		err := rows.Scan(&name)
		names = append(names, name)
		return err
	}, "SELECT name FROM pragma_table_info(?)", table)
	if d != nil && err == nil {
		d.has[table] = names
	}
	return names, err
}

// needs is columns of a table that has to have some of them: the error is errSchema if it lacks one.
func needs(ctx context.Context, db querier, path, table string, wanted ...string) (names []string, err error) {
	if names, err = columns(ctx, db, path, table); err != nil {
		return nil, err
	}
	for _, c := range wanted {
		if !slices.Contains(names, c) {
			return nil, fmt.Errorf("%s: %w: no %s.%s", path, errSchema, table, c)
		}
	}
	return names, nil
}

// query calls do for each row, as long as the answer is within the limits.
func query(ctx context.Context, db querier, path string, do func(*row) error, text string, args ...any) error {
	rows, err := db.QueryContext(ctx, text, args...)
	if err != nil {
		return fmt.Errorf("reading %s: %w", path, sqlError(err))
	}
	return each(ctx, rows, path, do)
}

func each(ctx context.Context, rows *sql.Rows, path string, do func(*row) error) error {
	defer rows.Close()
	one := row{rows, maxRead}
	for n := 0; rows.Next(); n++ {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if n == maxRows {
			return fmt.Errorf("reading %s: %w: it has more than %d rows of what was asked", path, errSchema, maxRows)
		}
		if err := do(&one); err != nil {
			return fmt.Errorf("reading %s: %w", path, sqlError(err))
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("reading %s: %w", path, sqlError(err))
	}
	return nil
}
