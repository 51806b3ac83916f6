package lintcache

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/runs"
	"github.com/hist-cli/hist/lint"
)

// stamp is by what a file, or the list of a directory, is known not to have changed.
type stamp struct {
	Device, Inode  uint64
	Size           int64
	Changed, Moded int64 // nanoseconds: of the content, and of anything about the file
}

// sum stands for stamps.
type sum [16]byte

func sumOf(list []stamp) sum {
	text := make([]byte, 0, 512)
	for _, s := range list {
		for _, v := range [...]uint64{s.Device, s.Inode, uint64(s.Size), uint64(s.Changed), uint64(s.Moded)} {
			text = binary.LittleEndian.AppendUint64(text, v)
		}
	}
	h := sha256.Sum256(text)
	return sum(h[:16])
}

// boundedAgent is an agent of which it is known what its findings hang on; nil if it is not.
func boundedAgent(a agent.Agent) agent.Bounded {
	b, _ := a.(agent.Bounded)
	return b
}

// agentOf is the agent that wrote a session, as far as something else than its bytes tells that; nil if nothing does.
func agentOf(opts lint.Options, path string) agent.Agent {
	if a := all.Named(opts.Agent); a != nil {
		return a
	}
	if a := all.ByName(opts.Name.Base); a != nil {
		return a
	}
	if a := all.AtHome(path, opts.Home); a != nil {
		return a
	}
	return nil
}

// homeState is a home as it was at a moment.
type homeState struct {
	hangsOn []stamp // the files that every finding hangs on
	rests   bool    // those are at rest

	roots  []string // the real paths of what findings may hang on beside
	around sum      // of all that lies there
	still  bool     // it is at rest, and all of it could be looked at
	newest time.Time
	walked time.Time // when; zero: not yet
}

// outdated is how long the state of a home is taken for what it is. What is kept by an older one is only linted anew.
const outdated = time.Minute

// hangsOn are the stamps of the files beside a session that its findings hang on; false if that can't be told. A session
// of which only its bytes tell who wrote it is one of no home.
func (c *Cache) hangsOn(a agent.Agent, opts lint.Options) ([]stamp, bool) {
	if a == nil {
		return nil, opts.Home == ""
	}
	if boundedAgent(a) == nil {
		return nil, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.home(a, opts.Home)
	return h.hangsOn, h.rests
}

// around is near with the state of all that a session of a home may look at; false if that is not known, was not at rest,
// or may have changed since a moment.
func (c *Cache) around(a agent.Agent, opts lint.Options, path string, near sum, since time.Time) (sum, bool) {
	if a == nil || opts.Home == "" {
		return sum{}, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.home(a, opts.Home)
	if h.walked.IsZero() {
		h.walk(boundedAgent(a).Around(opts.Home))
	}
	if !h.still || h.walked.After(since) && !h.newest.Before(since) || !h.holds(path) {
		return sum{}, false
	}
	s := sha256.Sum256(append(near[:], h.around[:]...))
	return sum(s[:16]), true
}

// home is the state of an agent's home.
func (c *Cache) home(a agent.Agent, dir string) *homeState {
	key := a.Name() + "\x00" + dir
	h := c.homes[key]
	if h == nil || !h.walked.IsZero() && time.Since(h.walked) > outdated {
		h = &homeState{}
		h.hangsOn, h.rests = stampAll(boundedAgent(a).HangsOn(dir))
		c.homes[key] = h
	}
	return h
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

// walk looks at all that lies below some paths, and in the records of hist's own repairs.
func (h *homeState) walk(paths []string) {
	h.walked, h.still = time.Now(), true
	if dir, err := runs.Dir(); err == nil {
		paths = append(paths, dir)
	}
	var list []stamp
	for _, path := range paths {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			path = real
			h.roots = append(h.roots, real)
		}
		err := filepath.WalkDir(path, func(path string, e fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				list = append(list, stamp{})
				return nil
			}
			if err != nil {
				return err
			}
			s, err := h.see(path, e)
			list = append(list, s)
			return err
		})
		if err != nil {
			h.still = false
			return
		}
	}
	h.around = sumOf(list)
}

var errUnbounded = errors.New("it is not known what lies there")

// see takes a stamp. What a symbolic link to a directory leads to is not walked.
func (h *homeState) see(path string, e fs.DirEntry) (stamp, error) {
	info, err := e.Info()
	if err == nil && e.Type()&fs.ModeSymlink != 0 {
		if info, err = os.Stat(path); err == nil && info.IsDir() {
			err = errUnbounded
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return stamp{}, nil
	}
	if err != nil {
		return stamp{}, err
	}
	s, ok := stampOf(info)
	if !ok || !rests(info, s) {
		return stamp{}, errUnbounded
	}
	for _, at := range []time.Time{time.Unix(0, s.Changed), time.Unix(0, s.Moded)} {
		if at.After(h.newest) {
			h.newest = at
		}
	}
	return s, nil
}

// holds says whether a session lies in what was walked: only then its neighbours are among that.
func (h *homeState) holds(path string) bool {
	for _, root := range h.roots {
		if rel, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(rel) {
			return true
		}
	}
	return false
}

// rests says whether the last change of a file is so long ago that another one would show.
func rests(info fs.FileInfo, s stamp) bool {
	age := time.Since(info.ModTime())
	return age > settled && time.Since(time.Unix(0, s.Moded)) > settled
}

// listen notes whether a lint by these options looks at other files than the session's own and those that all findings of
// its home hang on.
func listen(opts *lint.Options) (asked func() bool) {
	was := false
	opts.Asked = func() { was = true }
	if sibling := opts.SiblingVersion; sibling != nil {
		opts.SiblingVersion = func() string {
			was = true
			return sibling()
		}
	}
	if listed := opts.Listed; listed != nil {
		opts.Listed = func(agent, home, thread string) *check.Listed {
			was = true
			return listed(agent, home, thread)
		}
	}
	var further func() bool // other files of the home were looked at
	if kept := opts.Kept; kept != nil {
		opts.Kept = func(ctx context.Context, agent, home, base string) check.Kept {
			k := kept(ctx, agent, home, base)
			if f, ok := k.(interface{ Further() bool }); ok {
				further = f.Further
			}
			return k
		}
	}
	return func() bool { return was || further != nil && further() }
}
