package lintcache

import (
	"bytes"
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
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/lint"
)

// settled is how long a file must have rested: a file system may not tell apart two changes in one tick of its clock.
const settled = 2 * time.Second

// maxEntry is how large the findings of one session may be to be kept, in bytes.
const maxEntry = 1 << 20

// Cache is the cache of one version of hist. Its methods may be called from several goroutines. A nil Cache keeps nothing.
type Cache struct {
	file string // where it lies
	head []byte // begins it: what it is, and of which program

	mu    sync.Mutex
	homes map[string]*homeState // by agent and directory
	old   map[place]entry       // as read
	fresh map[place]entry       // found in this run, or of use for the first time since long
	dirty bool                  // there is something to write
}

// place says which session, judged by which options, an entry is about.
type place [16]byte

// entry is what is known about one place.
type entry struct {
	stamp sum    // of all that it hangs on, as that was when the file was linted
	used  int64  // when it was last of use, in seconds since 1970
	text  []byte // the coded result
}

// Dir is where the caches lie: hist in $XDG_CACHE_HOME, or in .cache below the user's home.
func Dir() (string, error) {
	base := os.Getenv("XDG_CACHE_HOME")
	if !filepath.IsAbs(base) {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("finding a place for the cache (set XDG_CACHE_HOME): %w", err)
		}
		base = filepath.Join(home, ".cache")
	}
	return filepath.Join(base, "hist"), nil
}

// Open reads the cache of this program. version is hist's; a program that was built anew has a cache of its own. Where
// there can be none it returns nil, which is a cache, too.
func Open(version string) *Cache {
	dir, err := Dir()
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
	c := &Cache{file: filepath.Join(dir, fmt.Sprintf("lint-%x%s", program[:6], suffix)), head: append([]byte(magic), program[:16]...), fresh: map[place]entry{}, homes: map[string]*homeState{}}
	c.old, _ = readFile(c.file, c.head)
	return c
}

// Lint is lint.Source, from the cache if the file has not changed since it was linted by the same options, nor anything
// else that was looked at.
func (c *Cache) Lint(ctx context.Context, src *source.Source, opts lint.Options) (*lint.Result, error) {
	if c == nil || opts.Live || opts.Fresh || src.Real == "" {
		return lint.Source(ctx, src, opts)
	}
	k, ok := c.keyOf(src, opts)
	if !ok {
		return lint.Source(ctx, src, opts)
	}
	if res, err := decode(c.find(k.at, k.near, k.around)); err == nil {
		return res, nil
	}
	asked := listen(&opts)
	res, err := lint.Source(ctx, src, opts)
	if a := k.agent; err == nil && res.Summary.Partial == nil && (a == nil || a.Name() == res.Summary.Agent) && boundedAgent(all.Named(res.Summary.Agent)) != nil && src.Changed() == nil {
		stamp, ok := k.near, true
		if asked() {
			stamp, ok = k.around()
		}
		if ok {
			c.add(k.at, stamp, encode(res))
		}
	}
	return res, err
}

// Sound is what Lint would return for a session in which nothing is wrong, if that is known without linting it; else nil.
// It is right for a session that is in use as well, with opts that say it is not: who has asked nobody has not to ask. In use
// less is told of a session, never more.
func (c *Cache) Sound(src *source.Source, opts lint.Options) *lint.Result {
	if c == nil || opts.Live || opts.Fresh || src.Real == "" {
		return nil
	}
	k, ok := c.keyOf(src, opts)
	if !ok {
		return nil
	}
	res, err := decode(c.find(k.at, k.near, k.around))
	if err != nil || len(res.Findings) > 0 {
		return nil
	}
	return res
}

// key is by what an entry is found.
type key struct {
	at     place
	near   sum
	around func() (sum, bool)
	agent  agent.Agent
}

// keyOf is a session's key; false if what is found in it can't be kept.
func (c *Cache) keyOf(src *source.Source, opts lint.Options) (key, bool) {
	own, ok := stampOf(src.Info)
	a := agentOf(opts, src.Real)
	hangsOn, bounded := c.hangsOn(a, opts)
	if !ok || !bounded || !rests(src.Info, own) {
		return key{}, false
	}
	near, begun := sumOf(append([]stamp{own}, hangsOn...)), time.Now()
	return key{placeOf(src, opts), near, func() (sum, bool) { return c.around(a, opts, src.Real, near, begun) }, a}, true
}

// find returns what is kept about a place that has not changed, nil if nothing is: neither what is near, nor, if that was
// looked at, what is around.
func (c *Cache) find(at place, near sum, around func() (sum, bool)) []byte {
	c.mu.Lock()
	e, ok := c.old[at]
	c.mu.Unlock()
	if ok && e.stamp != near {
		wide, known := around()
		ok = known && e.stamp == wide
	}
	if !ok {
		return nil
	}
	if now := time.Now().Unix(); now-e.used > int64(renew/time.Second) {
		e.used = now
		c.keep(at, e)
	}
	return e.text
}

// add keeps what was found.
func (c *Cache) add(at place, key sum, text []byte) {
	if len(text) > maxEntry {
		return
	}
	c.keep(at, entry{key, time.Now().Unix(), text})
}

// keep is for what is to be written.
func (c *Cache) keep(at place, e entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fresh[at], c.dirty = e, true
}

// placeOf names a session and all the options that its findings hang on.
func placeOf(src *source.Source, opts lint.Options) place {
	text := make([]byte, 0, 512)
	for _, s := range []string{
		src.Real, opts.Agent, opts.Home, opts.WakePrefix, opts.SaveTool, opts.Provider, opts.Branch, opts.Name.Base, opts.Name.ThreadID, opts.Name.FileID, opts.Name.Time,
	} {
		text = binary.LittleEndian.AppendUint64(text, uint64(len(s)))
		text = append(text, s...)
	}
	for _, b := range []bool{opts.Name.Canonical, opts.Name.InHome, opts.StripEncrypted, opts.KeepOrphans, opts.ChainParallel} {
		text = strconv.AppendBool(text, b)
	}
	for _, agent := range slices.Sorted(maps.Keys(opts.For)) {
		text = append(append(append(append(text, agent...), 0), opts.For[agent]...), 0)
	}
	h := sha256.Sum256(text)
	return place(h[:16]).of(linted)
}

// of is the place's for what is kept about a session, of which there are two things.
func (p place) of(what byte) place {
	p[0] = p[0]&^1 | what
	return p
}

// What is kept about a session.
const (
	linted  byte = iota // what was found
	glanced             // who it is, and how its last turn ended
)

// equalHead says whether a file is a cache of this program.
func equalHead(text, head []byte) bool { return bytes.HasPrefix(text, head) }
