package lintcache

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/check"
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
	homes map[string]homeStamps
	old   map[place]entry // as read
	fresh map[place]entry // found or used in this run
	dirty bool            // there is something to write
}

// place says which session, judged by which options, an entry is about.
type place [16]byte

// entry is what is known about one place.
type entry struct {
	stamp [16]byte // of the file as it was when it was linted
	used  int64    // when it was last of use, in seconds since 1970
	text  []byte   // the coded result
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
	c := &Cache{file: filepath.Join(dir, fmt.Sprintf("lint-%x%s", program[:6], suffix)), head: append([]byte(magic), program[:16]...), fresh: map[place]entry{}, homes: map[string]homeStamps{}}
	c.old, _ = readFile(c.file, c.head)
	return c
}

// Lint is lint.Source, from the cache if the file has not changed since it was linted by the same options.
func (c *Cache) Lint(ctx context.Context, src *source.Source, opts lint.Options) (*lint.Result, error) {
	if c == nil || opts.Live || opts.Fresh || src.Real == "" {
		return lint.Source(ctx, src, opts)
	}
	own, ok := stampOf(src.Info)
	hangsOn, bounded := c.hangsOn(opts)
	if !ok || !bounded || !rests(src.Info, own) {
		return lint.Source(ctx, src, opts)
	}
	at := placeOf(src, opts)
	key := sumOf(append([]stamp{own}, hangsOn...))
	if res := c.find(at, key); res != nil {
		return res, nil
	}
	asked := false
	var further func() bool // other files of the home were looked at
	if sibling := opts.SiblingVersion; sibling != nil {
		opts.SiblingVersion = func() string {
			asked = true // what was found hangs on another file, too
			return sibling()
		}
	}
	if listed := opts.Listed; listed != nil {
		opts.Listed = func(agent, home, thread string) *check.Listed {
			asked = true
			return listed(agent, home, thread)
		}
	}
	if kept := opts.Kept; kept != nil {
		opts.Kept = func(ctx context.Context, agent, home, base string) check.Kept {
			k := kept(ctx, agent, home, base)
			if f, ok := k.(interface{ Further() bool }); ok {
				further = f.Further
			}
			return k
		}
	}
	res, err := lint.Source(ctx, src, opts)
	asked = asked || further != nil && further()
	if err == nil && !asked && res.Summary.Partial == nil && boundedAgent(all.Named(res.Summary.Agent)) != nil && src.Changed() == nil {
		c.add(at, key, res)
	}
	return res, err
}

// find returns what is kept about a file that has not changed.
func (c *Cache) find(at place, stamp [16]byte) *lint.Result {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.old[at]
	if !ok || e.stamp != stamp {
		return nil
	}
	res, err := decode(e.text)
	if err != nil {
		return nil
	}
	if now := time.Now().Unix(); now-e.used > int64(renew/time.Second) {
		e.used, c.dirty = now, true
	}
	c.fresh[at] = e
	return res
}

// add keeps what was found.
func (c *Cache) add(at place, stamp [16]byte, res *lint.Result) {
	text := encode(res)
	if len(text) > maxEntry {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fresh[at] = entry{stamp, time.Now().Unix(), text}
	c.dirty = true
}

// placeOf names a session and all the options that its findings hang on.
func placeOf(src *source.Source, opts lint.Options) place {
	h := sha256.New()
	for _, s := range []string{
		src.Real, opts.Agent, opts.Home, opts.WakePrefix, opts.SaveTool, opts.Provider, opts.Branch, opts.Name.Base, opts.Name.ThreadID, opts.Name.FileID, opts.Name.Time,
		fmt.Sprint(opts.For, opts.Name.Canonical, opts.Name.InHome, opts.StripEncrypted, opts.KeepOrphans, opts.ChainParallel),
	} {
		binary.Write(h, binary.LittleEndian, int64(len(s))) //nolint:errcheck // a hash takes everything
		h.Write([]byte(s))
	}
	return place(h.Sum(nil)[:16])
}

// stamp is by what a file is known not to have changed.
type stamp struct {
	Device, Inode  uint64
	Size           int64
	Changed, Moded int64 // nanoseconds: of the content, and of anything about the file
}

func sumOf(list []stamp) [16]byte {
	h := sha256.New()
	binary.Write(h, binary.LittleEndian, list) //nolint:errcheck // a hash takes everything
	return [16]byte(h.Sum(nil)[:16])
}

// boundedAgent is an agent of which it is known what its findings hang on; nil if it is not.
func boundedAgent(a agent.Agent) agent.Bounded {
	b, _ := a.(agent.Bounded)
	return b
}

// hangsOn are the stamps of the files beside a session that its findings hang on; false if that can't be told. A session
// that does not say by its name who wrote it is one of no home.
func (c *Cache) hangsOn(opts lint.Options) ([]stamp, bool) {
	a := all.Named(opts.Agent)
	if a == nil {
		a = all.ByName(opts.Name.Base)
	}
	if a == nil {
		return nil, opts.Home == ""
	}
	b := boundedAgent(a)
	if b == nil {
		return nil, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	key := a.Name() + "\x00" + opts.Home
	known, ok := c.homes[key] // as it was when the run began, whatever it becomes
	if !ok {
		known.stamps, known.ok = stampAll(b.HangsOn(opts.Home))
		c.homes[key] = known
	}
	return known.stamps, known.ok
}

// homeStamps are what the sessions of a home hang on; not ok where that is not at rest.
type homeStamps struct {
	stamps []stamp
	ok     bool
}

func stampAll(paths []string) (list []stamp, ok bool) {
	for _, path := range paths {
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			list = append(list, stamp{})
			continue
		}
		if err != nil {
			return nil, false
		}
		s, ok := stampOf(info)
		if !ok || !rests(info, s) {
			return nil, false
		}
		list = append(list, s)
	}
	return list, true
}

// rests says whether the last change of a file is so long ago that another one would show.
func rests(info fs.FileInfo, s stamp) bool {
	age := time.Since(info.ModTime())
	return age > settled && time.Since(time.Unix(0, s.Moded)) > settled
}

// equalHead says whether a file is a cache of this program.
func equalHead(text, head []byte) bool { return bytes.HasPrefix(text, head) }
