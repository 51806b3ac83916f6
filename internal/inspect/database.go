package inspect

import (
	"context"
	"slices"
	"sync"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/source"
)

// database is the state of a database of a home at one time.
type database struct {
	agent.Database
	stamps []source.Stamp
	rest   bool // all of its files could be examined, and none has just changed
}

// allUnchanged says so of several.
func allUnchanged(databases []*database) bool {
	return !slices.ContainsFunc(databases, func(db *database) bool { return !db.unchanged() })
}

// see examines a database.
func see(d agent.Database) *database {
	db := &database{Database: d}
	db.stamps, db.rest = stampAll(d.Files)
	return db
}

// there says whether the database exists.
func (db *database) there() bool { return len(db.stamps) > 0 && db.stamps[0] != (source.Stamp{}) }

// unchanged says whether the database is still as it was seen.
func (db *database) unchanged() bool { return unchanged(db.Files, db.stamps) }

// withFiles is the state of a text, and of the files of databases.
func withFiles(text []byte, databases []*database) sum {
	text = slices.Clip(text)
	for _, db := range databases {
		for _, s := range db.stamps {
			text = s.Append(append(text, 0))
		}
	}
	return sumOf(text)
}

// withRows is the state of a text, and of what databases hold of the session whose file has a name; nil if there are none, or if all that
// they hold counts.
func withRows(ctx context.Context, text []byte, databases []*database, base string) func() (sum, bool) {
	if len(databases) == 0 || slices.ContainsFunc(databases, func(db *database) bool { return db.Whole }) {
		return nil
	}
	text = slices.Clip(text)
	return sync.OnceValues(func() (sum, bool) {
		for _, db := range databases {
			rows, err := Rows(ctx, db.Database, base)
			if err != nil || !db.unchanged() {
				return sum{}, false
			}
			text = append(text, rows[:]...)
		}
		return sumOf(text), true
	})
}
