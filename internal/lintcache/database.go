package lintcache

import (
	"crypto/sha256"
	"maps"
	"slices"
	"sync"

	"github.com/hist-cli/hist/internal/agent"
)

// database is the state of a database of a home at one time.
type database struct {
	agent.Database
	stamps []stamp
	rest   bool // all of its files could be examined, and none has just changed
	// prints are the fingerprints of each key's rows; nil if the database counts as a whole.
	prints func() map[string][16]byte
}

// see examines a database.
func (c *Cache) see(d agent.Database) *database {
	db := &database{Database: d}
	db.stamps, db.rest = stampAll(d.Files)
	db.prints = sync.OnceValue(func() map[string][16]byte { return c.printsOf(db) })
	return db
}

// there says whether the database exists.
func (db *database) there() bool { return len(db.stamps) > 0 && db.stamps[0] != (stamp{}) }

// unchanged says whether the database is still as it was seen.
func (db *database) unchanged() bool { return unchanged(db.Files, db.stamps) }

// append adds to a text that is to be hashed the state of all in a database that a session depends on, by the name of its file.
func (db *database) append(text []byte, base string) []byte {
	prints := db.prints()
	if prints == nil {
		for _, s := range db.stamps {
			text = s.append(append(text, 0))
		}
		return text
	}
	print, ok := prints[db.Key(base)]
	if !ok {
		print = prints[""]
	}
	return append(append(text, 1), print[:]...)
}

// printed are the prints of a database in one state.
type printed struct {
	state  sum
	prints map[string][16]byte // nil: they can't be had
	read   int                 // how often they were made in this run
}

// Who makes the prints reads all of the database, which takes as long as to lint this many sessions a megabyte; and more than once
// only if a client writes to it meanwhile.
const (
	sessionsPerMiB = 1
	maxRead        = 3
)

// Expect says that a number of sessions of a home are going to be linted.
func (c *Cache) Expect(home string, sessions int) {
	if c == nil {
		return
	}
	c.reading.Lock()
	defer c.reading.Unlock()
	if c.expected == nil {
		c.expected = map[string]int{}
	}
	c.expected[home] += sessions
}

// printsOf returns the prints of a database: those that are kept of its state, or, if that is worth it, new ones.
func (c *Cache) printsOf(db *database) map[string][16]byte {
	if !db.rest || !db.there() || db.Prints == nil {
		return nil
	}
	c.reading.Lock()
	defer c.reading.Unlock()
	state, path := sumOf(db.stamps), db.Files[0]
	p := c.printed[path]
	if p == nil {
		if c.printed == nil {
			c.printed = map[string]*printed{}
		}
		p = &printed{}
		c.printed[path] = p
	}
	if p.state == state {
		return p.prints
	}
	h := sha256.Sum256([]byte("prints\x00" + path))
	l := lookup{key: key(h[:16]).withKind(glanced), own: state, wide: func() (sum, bool) { return sum{}, false }}
	p.state, p.prints = state, readPrints(c.find(l))
	if p.prints != nil || (db.stamps[0].Size>>20)*sessionsPerMiB > int64(max(1, c.expected[db.Home])) || p.read == maxRead {
		return p.prints
	}
	p.read++
	prints, err := db.Prints()
	if err != nil || !db.unchanged() {
		return nil
	}
	p.prints = prints
	var code coder
	code.prints(prints)
	if len(code.b) <= maxPrints {
		c.keep(l.key, newEntry(state, code.b))
	}
	return prints
}

// prints codes the prints of a database.
func (c *coder) prints(prints map[string][16]byte) {
	keys := slices.Sorted(maps.Keys(prints))
	count := len(keys)
	c.integer(&count)
	for n := 0; n < count && !c.bad; n++ {
		var k string
		if !c.reading {
			k = keys[n]
		}
		c.text(&k)
		if !c.reading {
			print := prints[k]
			c.b = append(c.b, print[:]...)
			continue
		}
		if c.bad = c.bad || len(c.b) < 16; !c.bad {
			prints[k], c.b = [16]byte(c.b), c.b[16:]
		}
	}
}

func readPrints(text []byte) map[string][16]byte {
	if text == nil {
		return nil
	}
	code, prints := decoder(text), make(map[string][16]byte, len(text)/usualPrint)
	if code.prints(prints); code.bad || len(code.b) > 0 {
		return nil
	}
	return prints
}

// usualPrint is how long the print of a session is with its key, in bytes.
const usualPrint = 54
