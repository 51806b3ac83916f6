package inspect

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/internal/walk"
	"github.com/hist-cli/hist/lint"
)

// sum is the hash of a text, such as one of stamps.
type sum [16]byte

func sumOf(text []byte) sum {
	h := sha256.Sum256(text)
	return sum(h[:16])
}

// bounds is what an agent's findings depend on, nil if that is not known.
func bounds(a *agent.Agent) *agent.Bounds {
	if a == nil || a.Home == nil {
		return nil
	}
	return a.Bounds
}

// agentOf returns the agent that wrote a session, if something else than the session's bytes says so; else nil.
func agentOf(opts lint.Options, path string) *agent.Agent {
	if a := all.Named(opts.Agent); a != nil {
		return a
	}
	if a := all.ByName(opts.Name.Base); a != nil {
		return a
	}
	return all.AtHome(path, opts.Home)
}

// common returns the databases of a home that all its findings depend on; false if their state is not known. If only a session's
// bytes say which agent wrote it, it must not be in a home.
func (c *Cache) common(a *agent.Agent, opts lint.Options) ([]*database, bool) {
	if a == nil {
		return nil, opts.Home == ""
	}
	b := bounds(a)
	if b == nil {
		return nil, false
	}
	var list []agent.Database
	if b.Databases != nil {
		list = b.Databases(opts.Home)
	}
	with := c.setOf(list)
	return with.all, with.rest
}

// isPending says whether a file is one that SQLite keeps beside a database while a write is pending: its -wal file or its journal.
func isPending(path string) bool {
	return strings.HasSuffix(path, "-wal") || strings.HasSuffix(path, "-journal")
}

// maxPending is how large such a file may be, in bytes.
const maxPending = 64 << 20

// examine returns the stamp of a file of a home; false if it is not known, or the file has just changed. Where root only reads a
// database, SQLite gives what is pending to its owner anew, which changes that file's change time: in place of it, the stamp has a sum of
// the content.
func examine(path string, info fs.FileInfo) (source.Stamp, bool) {
	s, ok := source.StampOf(info)
	if !ok || !isPending(path) {
		return s, ok && atRest(info, s)
	}
	if !info.ModTime().Before(Resting()) {
		return s, false
	}
	text, err := source.Small(path, maxPending)
	h := sha256.Sum256(text)
	s.ChangeTime = int64(binary.LittleEndian.Uint64(h[:]))
	return s, err == nil
}

// unchanged says whether files are still as they were when they had these stamps.
func unchanged(paths []string, stamps []source.Stamp) bool {
	for i, path := range paths {
		var now source.Stamp
		info, err := os.Stat(path)
		switch {
		case err == nil:
			now, _ = source.StampOf(info)
		case !errors.Is(err, fs.ErrNotExist):
			return false
		}
		if isPending(path) && now != (source.Stamp{}) {
			now.ChangeTime = stamps[i].ChangeTime
		}
		if now != stamps[i] {
			return false
		}
	}
	return true
}

// stampAll returns the stamps of files, which need not exist; false if one can't be examined or has just changed.
func stampAll(paths []string) (list []source.Stamp, ok bool) {
	for _, path := range paths {
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			list = append(list, source.Stamp{})
			continue
		}
		if err != nil {
			return nil, false
		}
		s, ok := examine(path, info)
		if !ok {
			return nil, false
		}
		list = append(list, s)
	}
	return list, true
}

// atRest says whether the last change of a file is so long ago that a further change would give it another time.
func atRest(info fs.FileInfo, s source.Stamp) bool {
	since := Resting()
	return info.ModTime().Before(since) && time.Unix(0, s.ChangeTime).Before(since)
}

// lookups says, after a lint, what that has looked at.
type lookups struct {
	further func() bool // at other files than the session's own, and more of its home than all findings there depend on: then nothing is stored
	unread  func() bool // at something that could not be read just then
}

// watchLookups wraps the callbacks in opts.
func watchLookups(opts *lint.Options) lookups {
	looked := false
	opts.Asked = func() { looked = true }
	if sibling := opts.SiblingVersion; sibling != nil {
		opts.SiblingVersion = func() string {
			looked = true
			return sibling()
		}
	}
	if listed := opts.Listed; listed != nil {
		opts.Listed = func(agent, home, thread string) *check.Listed {
			looked = true
			return listed(agent, home, thread)
		}
	}
	var all []check.Kept // what opts.Kept has returned, but nothing
	if kept := opts.Kept; kept != nil {
		opts.Kept = func(ctx context.Context, agent, home, base string) check.Kept {
			k := kept(ctx, agent, home, base)
			if k != nil {
				all = append(all, k)
			}
			return k
		}
	}
	return lookups{
		further: func() bool { return looked || slices.ContainsFunc(all, check.Kept.Further) },
		unread:  func() bool { return slices.ContainsFunc(all, check.Kept.Unread) },
	}
}

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

// names are those of the files in a directory.
type names struct {
	are   map[string]bool
	known bool // it could be read
	until time.Time
}

// namesFor is how long the names in a directory are used without reading them again.
const namesFor = time.Second

// twins adds to a text that is to be hashed at which paths a file of the session lies; false if that can't be found out.
func (c *Cache) twins(ctx context.Context, a *agent.Agent, opts lint.Options, path string, text []byte) ([]byte, bool) {
	if a == nil || opts.Home == "" || bounds(a).Twins == nil {
		return text, true
	}
	for _, twin := range bounds(a).Twins(opts.Home, opts.Name.Base) {
		there, ok := c.exists(walk.RecentOf(ctx), twin, path)
		if !ok {
			return nil, false
		}
		if there {
			text = append(text, 1)
		} else {
			text = append(text, 0)
		}
	}
	return text, true
}

// exists says whether there is a file at a path, by the list of its directory, which is read once for all sessions. One that is known
// to be there is not looked at.
func (c *Cache) exists(recent *walk.Recent, path, known string) (there, ok bool) {
	if path == known {
		return true, true
	}
	dir, base := filepath.Split(path)
	c.listing.Lock()
	n := c.listed[dir]
	if at := time.Now(); n == nil || at.After(n.until) {
		n = &names{are: map[string]bool{}, until: at.Add(namesFor)}
		entries, err := recent.ReadDir(filepath.Clean(dir))
		for _, e := range entries {
			n.are[e.Name()] = true
		}
		n.known = err == nil || errors.Is(err, fs.ErrNotExist)
		if c.listed == nil {
			c.listed = map[string]*names{}
		}
		c.listed[dir] = n
	}
	c.listing.Unlock()
	if !n.known || !n.are[base] {
		return false, n.known
	}
	_, err := os.Stat(path)
	return err == nil, err == nil || errors.Is(err, fs.ErrNotExist)
}

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
