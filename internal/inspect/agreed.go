package inspect

import (
	"context"
	"fmt"
	"time"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/source"
)

// databaseSet is the state of some databases at one time.
type databaseSet struct {
	all   []*database
	rest  bool // all could be examined, and none has just changed
	there bool // one of them is there
	until time.Time
}

// setFor is how long the state of a set of databases is used without examining them again.
const setFor = time.Second

// Agreed says whether the cache knows that a session agrees with some databases, which need not exist: that whoever compared them
// found nothing wrong. Neither the session nor what the databases hold of it has changed since. If it does not know, keep stores
// that they agree, as they were when Agreed was called.
func (c *Cache) Agreed(ctx context.Context, src *source.Source, databases []agent.Database) (known bool, keep func()) {
	nothing := func() {}
	if c == nil || src.Real == "" {
		return false, nothing
	}
	file, ok := source.StampOf(src.Info)
	with := c.setOf(databases)
	if !ok || !with.rest || !with.there || !atRest(src.Info, file) {
		return false, nothing
	}
	text := file.Append(make([]byte, 0, 256))
	for _, db := range with.all {
		text = append(append(text, db.Files[0]...), 0)
	}
	l := lookup{key: key(sumOf([]byte("agreed\x00" + src.Real))).withKind(glanced), own: withFiles(text, with.all), rows: withRows(ctx, text, with.all, src.Name)}
	if c.find(l) != nil {
		return true, nothing
	}
	return false, func() {
		if allUnchanged(with.all) {
			c.add(l, []byte{1})
		}
	}
}

// setOf returns the state of some databases.
func (c *Cache) setOf(databases []agent.Database) *databaseSet {
	name := ""
	for _, d := range databases {
		name += fmt.Sprint(d.Files[0], "\x00", d.Whole, "\x00")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.sets[name]
	if at := time.Now(); s == nil || at.After(s.until) {
		s = &databaseSet{until: at.Add(setFor), rest: true}
		for _, d := range databases {
			db := see(d)
			s.all, s.there, s.rest = append(s.all, db), s.there || db.there(), s.rest && db.rest
		}
		if c.sets == nil {
			c.sets = map[string]*databaseSet{}
		}
		c.sets[name] = s
	}
	return s
}
