package beside

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"modernc.org/sqlite"

	codexhome "github.com/hist-cli/hist/internal/agent/codex/home"
)

// errDamaged says that a database can't be read, because it is cut or overwritten. It is errSchema, too: it is left alone.
var errDamaged = errors.New("damaged database")

// damaged is SQLite's error that a file is not a database, or that a database is malformed; or that no client opens it.
type damaged struct{ told error }

func (d damaged) Error() string { return d.told.Error() }

// Is makes it errDamaged and errSchema.
func (damaged) Is(target error) bool { return target == errDamaged || target == errSchema }

// sqlError translates an error of the driver into one of this package's.
func sqlError(err error) error {
	const tooBig, constraint, corrupt, mismatch, notADatabase, primary = 18, 19, 11, 20, 26, 0xff
	var told *sqlite.Error
	if !errors.As(err, &told) {
		if said, ok := strings.CutPrefix(err.Error(), "sql: Scan error on column "); ok { // without the value, which may be long
			_, column, _ := strings.Cut(said, "name ")
			column, _, _ = strings.Cut(column, ": ")
			return fmt.Errorf("%w: it holds a value of another type than clients write (%s)", errSchema, column)
		}
		return err
	}
	switch told.Code() & primary {
	case corrupt, notADatabase:
		return damaged{told}
	case tooBig:
		return fmt.Errorf("%w: it holds a value of more than %d MiB", errSchema, maxCell>>20)
	case constraint, mismatch:
		return fmt.Errorf("%w: %w", errSchema, err)
	}
	return err
}

// passing says whether an error may disappear although no file changes: somebody has locked the database, or nobody else may
// open it. An unknown form, or damage, stays.
func passing(err error) bool {
	var told *sqlite.Error
	return errors.As(err, &told) && !misfit(err)
}

// misfit says whether SQLite has not understood a question, because the database lacks what it names.
func misfit(err error) bool {
	const statement, primary = 1, 0xff
	var told *sqlite.Error
	return errors.As(err, &told) && told.Code()&primary == statement
}

// damagedDatabase is a database that can't be read.
type damagedDatabase struct {
	Name string
	Why  string // SQLite's words
	Part bool   // it can be read, except for what it holds of some session
}

// damagedDatabases lists those of a home's databases that no client can open.
func damagedDatabases(ctx context.Context, home string) (found []damagedDatabase) {
	for _, name := range codexhome.DatabaseNames(home) {
		if halfOpen(pathOf(home, name)) {
			continue
		}
		look := func() error { return opens(ctx, home, name) }
		why := whyDamaged(look())
		if why != "" {
			why = lookAgain(look)
		}
		if why != "" {
			found = append(found, damagedDatabase{Name: name, Why: why})
		}
	}
	return found
}

// damagedRow looks again at a list of threads whose row of a thread could not be read; nil if it can be read.
func damagedRow(ctx context.Context, home, thread string) []damagedDatabase {
	return damagedPart(home, codexhome.StateFile, func() error { return readRow(ctx, home, thread) })
}

// damagedProjection looks again at a projection that could not be read; nil if it can be read.
func damagedProjection(ctx context.Context, home, rolloutID string) []damagedDatabase {
	return damagedPart(home, historyFile, func() error {
		_, _, err := projectionOf(ctx, home, rolloutID)
		return err
	})
}

// unsoundProjection checks the tables of the projection, and their indexes, because a repair has to clear rows of them. It
// reads all of them, which takes a few milliseconds per MiB.
func unsoundProjection(ctx context.Context, home string) []damagedDatabase {
	if halfOpen(pathOf(home, historyFile)) || unsound(ctx, home) == "" {
		return nil
	}
	time.Sleep(secondLook)
	if why := unsound(ctx, home); why != "" {
		return []damagedDatabase{{historyFile, why, true}}
	}
	return nil
}

// unsound is what SQLite says of the first damaged place, "" if there is none.
func unsound(ctx context.Context, home string) (why string) {
	db, path, err := open(ctx, home, historyFile, readOnly)
	if db == nil || err != nil {
		return whyDamaged(err)
	}
	defer db.Close()
	err = query(ctx, db.DB, path, func(rows *row) error {
		var told string
		if err := rows.Scan(&told); err != nil {
			return err
		}
		if told != "ok" && why == "" {
			lines := strings.Split(strings.TrimSpace(told), "\n")
			why = lines[len(lines)-1] // the first one names the database
		}
		return nil
	}, "PRAGMA quick_check(1)")
	return cmp.Or(why, whyDamaged(err))
}

func damagedPart(home, name string, look func() error) []damagedDatabase {
	if halfOpen(pathOf(home, name)) {
		return nil
	}
	why := lookAgain(look)
	if why == "" {
		return nil
	}
	return []damagedDatabase{{name, why, true}}
}

// secondLook is how long after the first look a database that seems damaged is looked at again.
const secondLook = 50 * time.Millisecond

// lookAgain is the second look: at the first, a client that was just starting or ending may have changed the file while it was
// read.
func lookAgain(look func() error) (why string) {
	time.Sleep(secondLook)
	return whyDamaged(look())
}

// whyDamaged is what SQLite says of a database that it can't read, "" if the error is another one.
func whyDamaged(err error) string {
	var why damaged
	if !errors.As(err, &why) {
		return ""
	}
	text, _, _ := strings.Cut(why.Error(), " (") // without the number
	return text
}

// opening are the queries of a database, as far as it has these tables, that clients make before they resume anything (measured
// with 0.150.0 and 0.155.1).
var opening = []string{
	"SELECT version, checksum FROM _sqlx_migrations ORDER BY version",
	"SELECT status FROM backfill_state",
	"SELECT max(updated_at_ms) FROM threads",
	"SELECT max(recency_at_ms) FROM threads",
}

// opens reads what a client reads of a database when it opens it. The error is only of use if it is errDamaged.
func opens(ctx context.Context, home, name string) error {
	db, path, err := open(ctx, home, name, readOnly)
	if db == nil || err != nil {
		return err
	}
	defer db.Close()
	if _, err := columns(ctx, db, path, "sqlite_schema"); err != nil {
		return err
	}
	for _, text := range opening {
		err := query(ctx, db, path, func(*row) error { return nil }, text)
		if errors.Is(err, errDamaged) {
			return err
		}
	}
	return foreign(ctx, db, path, name)
}

// halfOpen says whether a database is just being made, or has recent changes beside it in a form that could not be read without
// leaving a trace.
func halfOpen(path string) bool {
	if _, err := os.Stat(path + "-journal"); err == nil {
		return true
	}
	wal, err := os.Stat(path + "-wal")
	_, shm := os.Stat(path + "-shm")
	return err == nil && wal.Size() > 0 && shm != nil
}
