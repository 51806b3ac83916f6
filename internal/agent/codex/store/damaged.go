package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"modernc.org/sqlite"

	codexhome "github.com/hist-cli/hist/internal/agent/codex/home"
)

// ErrDamaged: a database can't be read, because it is cut or overwritten. It is ErrSchema, too: it is left alone.
var ErrDamaged = errors.New("damaged database")

// damaged is SQLite's word that a database is none, or is malformed.
type damaged struct{ told *sqlite.Error }

func (d damaged) Error() string { return d.told.Error() }

// Is makes it ErrDamaged and ErrSchema.
func (damaged) Is(target error) bool { return target == ErrDamaged || target == ErrSchema }

// named gives an error of the driver its meaning.
func named(err error) error {
	const corrupt, notADatabase, primary = 11, 26, 0xff
	var told *sqlite.Error
	if errors.As(err, &told) && (told.Code()&primary == corrupt || told.Code()&primary == notADatabase) {
		return damaged{told}
	}
	return err
}

// Damaged is a database that can't be read.
type Damaged struct {
	Name string
	Why  string // SQLite's words
}

// DamagedDatabases lists those of a home's databases that no client can open.
func DamagedDatabases(ctx context.Context, home string) (found []Damaged) {
	for _, name := range codexhome.DatabaseNames(home) {
		if halfOpen(filepath.Join(codexhome.Databases(home), name)) {
			continue
		}
		why := damageOf(ctx, home, name)
		if why != "" { // a client that began or ended at this moment has changed the file while it was read
			time.Sleep(secondLook)
			why = damageOf(ctx, home, name)
		}
		if why != "" {
			found = append(found, Damaged{name, why})
		}
	}
	return found
}

// secondLook is how long after the first look a database that seems damaged is looked at again.
const secondLook = 50 * time.Millisecond

// damageOf returns what SQLite says of a database that it can't read, "" if it can, or if something else keeps it from that.
func damageOf(ctx context.Context, home, name string) string {
	db, _, err := open(ctx, home, name, readOnly)
	if db != nil {
		_, err = columns(ctx, db, name, "sqlite_schema")
		db.Close()
	}
	var why damaged
	if !errors.As(err, &why) {
		return ""
	}
	text, _, _ := strings.Cut(why.Error(), " (") // without the number
	return text
}

// halfOpen says whether a database is just being made, or what was written to it newly lies beside it in a form that could not
// be read without a trace.
func halfOpen(path string) bool {
	if _, err := os.Stat(path + "-journal"); err == nil {
		return true
	}
	wal, err := os.Stat(path + "-wal")
	_, shm := os.Stat(path + "-shm")
	return err == nil && wal.Size() > 0 && shm != nil
}
