package inspect

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/disk"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/lint"
)

// minRest is how long ago the last change of a file must be for a result to be stored. Two changes within one tick of the
// file system's clock can have the same time, so that the second would go unnoticed.
const minRest = 2 * time.Second

// Resting is the time before which a file must have changed last. Tests set it.
var Resting = func() time.Time { return time.Now().Add(-minRest) }

// maxEntry is the size of the largest result that is stored, in bytes.
const maxEntry = 1 << 20

// Cache is the cache of one version of hist. Its methods may be called from several goroutines. A nil Cache stores nothing.
type Cache struct {
	file string // its path
	head []byte // the file's first bytes, which identify its format and the program

	mu    sync.Mutex
	old   map[key]entry           // as read from the file
	fresh map[key]entry           // to be written: stored in this run, or used for the first time in usedPrecision
	dirty bool                    // there is something to write
	sets  map[string]*databaseSet // by their paths

	listing sync.Mutex
	listed  map[string]*names // by the directory's path
}

// key identifies a session together with the options by which it is judged.
type key [16]byte

// entry is a stored result.
type entry struct {
	state sum    // of the files that the result depends on: the entry is valid as long as that is the same
	rows  sum    // or this: that of the file itself, and of what databases hold of the session; zero if it is not known
	used  int64  // when it was last used, in seconds since 1970
	text  []byte // the encoded result
}

// OpenCache reads the cache of this program. version is hist's; every build has a cache of its own. If there can be no cache it
// returns nil, which may be used, too.
func OpenCache(version string) *Cache {
	dir, err := disk.CacheDir()
	if err != nil {
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	info, err := os.Stat(self)
	if err != nil {
		return nil
	}
	program := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%d\x00%d", version, self, info.Size(), info.ModTime().UnixNano()))
	c := &Cache{file: filepath.Join(dir, fmt.Sprintf("lint-%x%s", program[:6], suffix)), head: append([]byte(magic), program[:16]...), fresh: map[key]entry{}}
	c.old, _ = readCache(c.file, c.head)
	return c
}

// Lint is lint.Source. The result comes from the cache if the session was linted with the same options before, and since then
// neither its file nor anything else that the result depends on has changed.
func (c *Cache) Lint(ctx context.Context, src *source.Source, opts lint.Options) (*lint.Result, error) {
	if c == nil || opts.Live || opts.Fresh || src.Real == "" {
		return lint.Source(ctx, src, opts)
	}
	l, ok := c.lookupOf(ctx, src, opts)
	if !ok {
		return lint.Source(ctx, src, opts)
	}
	if res, err := decode(c.find(l)); err == nil {
		return res, nil
	}
	seen := watchLookups(&opts)
	res, err := lint.Source(ctx, src, opts)
	if a := l.agent; err == nil && res.Summary.Partial == nil && (a == nil || a.Name == res.Summary.Agent) && bounds(all.Named(res.Summary.Agent)) != nil && src.Changed() == nil {
		if !seen.further() && !seen.unread() && l.same() {
			c.add(l, encode(res))
		}
	}
	return res, err
}

// KnownHealthy returns Lint's result if the cache knows that the session has no findings; else nil, without linting it.
//
// opts may say that the session is not in use although that has not been checked. A session has fewer findings while it is in
// use, never more, so one without findings has none then either.
func (c *Cache) KnownHealthy(ctx context.Context, src *source.Source, opts lint.Options) *lint.Result {
	if c == nil || opts.Live || opts.Fresh || src.Real == "" {
		return nil
	}
	l, ok := c.lookupOf(ctx, src, opts)
	if !ok {
		return nil
	}
	res, err := decode(c.find(l))
	if err != nil || len(res.Findings) > 0 {
		return nil
	}
	return res
}

// lookup is what is needed to find a session's entry and to decide whether it is valid.
type lookup struct {
	key   key
	own   sum                // the state of the session's file and of what every result of its home depends on
	rows  func() (sum, bool) // the same by the rows of the databases; false if they can't be read. It takes as long as a question about each
	same  func() bool        // whether the databases are still as they were: then they were while the session was linted
	agent *agent.Agent       // nil if only the session's bytes say which it is
}

// lookupOf prepares a lookup; false if no result for the session can be stored.
func (c *Cache) lookupOf(ctx context.Context, src *source.Source, opts lint.Options) (lookup, bool) {
	file, ok := source.StampOf(src.Info)
	a := agentOf(opts, src.Real)
	databases, known := c.common(a, opts)
	if !ok || !known || !atRest(src.Info, file) {
		return lookup{}, false
	}
	text, ok := c.twins(ctx, a, opts, src.Real, file.Append(make([]byte, 0, 256)))
	if !ok {
		return lookup{}, false
	}
	same := func() bool { return allUnchanged(databases) }
	return lookup{keyOf(src, opts), withFiles(text, databases), withRows(ctx, text, databases, opts.Name.Base), same, a}, true
}

// find returns the text of a valid entry, nil if there is none. An entry is valid if its state is own, or, where a database has changed, if
// that has the same rows.
func (c *Cache) find(l lookup) []byte {
	c.mu.Lock()
	e, ok := c.old[l.key]
	c.mu.Unlock()
	if !ok {
		return nil
	}
	if e.state != l.own {
		if e.rows == (sum{}) || l.rows == nil {
			return nil
		}
		if rows, ok := l.rows(); !ok || rows != e.rows {
			return nil
		}
		e.state = l.own
		c.keep(l.key, e)
	}
	if now := time.Now().Unix(); now-e.used > int64(usedPrecision/time.Second) {
		e.used = now
		c.keep(l.key, e)
	}
	return e.text
}

// add stores a result. If there was one that is not valid any more, the databases are likely to change again: then their rows are asked
// for, too.
func (c *Cache) add(l lookup, text []byte) {
	if len(text) > maxEntry {
		return
	}
	e := entry{state: l.own, used: time.Now().Unix(), text: text}
	c.mu.Lock()
	_, changes := c.old[l.key]
	c.mu.Unlock()
	if changes && l.rows != nil {
		e.rows, _ = l.rows()
	}
	c.keep(l.key, e)
}

// keep stores an entry for Close to write.
func (c *Cache) keep(k key, e entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fresh[k], c.dirty = e, true
}

// keyOf returns the key for a session and all the options that its findings depend on.
func keyOf(src *source.Source, opts lint.Options) key {
	text := make([]byte, 0, 512)
	for _, s := range []string{
		src.Real, opts.Agent, opts.Home, opts.WakePrefix, opts.SaveTool, opts.Provider, opts.Branch, opts.Name.Base, opts.Name.ThreadID, opts.Name.Right, opts.Name.FileID, opts.Name.Time,
	} {
		text = binary.LittleEndian.AppendUint64(text, uint64(len(s)))
		text = append(text, s...)
	}
	for _, b := range []bool{opts.Name.Canonical, opts.Name.InHome, opts.Name.Beside, opts.Name.Linked, opts.StripEncrypted, opts.KeepOrphans, opts.ChainParallel} {
		text = strconv.AppendBool(text, b)
	}
	for _, agent := range slices.Sorted(maps.Keys(opts.For)) {
		text = append(append(append(append(text, agent...), 0), opts.For[agent]...), 0)
	}
	return key(sumOf(text)).withKind(linted)
}

// withKind returns the key under which a result of another kind about the same session is stored.
func (k key) withKind(kind byte) key {
	k[0] = k[0]&^1 | kind
	return k
}

// Kinds of results, in the lowest bit of a key's first byte.
const (
	linted  byte = iota // of a lint
	glanced             // of a glance
)
