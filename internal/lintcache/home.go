package lintcache

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/runs"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/lint"
)

// stamp is what shows that a file, or the list of a directory's files, has not changed.
type stamp struct {
	Device, Inode       uint64
	Size                int64
	ModTime, ChangeTime int64 // nanoseconds since 1970: of the last change of the content, and of anything about the file
}

// sum is the hash of a list of stamps.
type sum [16]byte

func sumOf(list []stamp) sum {
	text := make([]byte, 0, 512)
	for _, s := range list {
		text = s.append(text)
	}
	h := sha256.Sum256(text)
	return sum(h[:16])
}

// append adds a stamp to a text that is to be hashed.
func (s stamp) append(text []byte) []byte {
	for _, v := range [...]uint64{s.Device, s.Inode, uint64(s.Size), uint64(s.ModTime), uint64(s.ChangeTime)} {
		text = binary.LittleEndian.AppendUint64(text, v)
	}
	return text
}

// bounded returns an agent as agent.Bounded, if it is known which files its findings depend on; else nil.
func bounded(a agent.Agent) agent.Bounded {
	b, _ := a.(agent.Bounded)
	return b
}

// agentOf returns the agent that wrote a session, if something else than the session's bytes says so; else nil.
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

// homeState is the state of a home at one time.
type homeState struct {
	databases []*database // that all findings depend on

	// The following are filled in by walk.
	roots  []string  // the real paths of the directories that findings may depend on
	all    sum       // of everything in those
	known  bool      // everything in them could be examined, and nothing has just changed
	newest time.Time // the latest change in them
	walked time.Time // when that was found out; zero: not yet
}

// maxHomeAge is how long the state of a home is used without examining it again. If the home has changed meanwhile, entries
// that are stored with the older state are not valid later, and those sessions are linted again.
const maxHomeAge = time.Minute

// common returns the databases of a home that all its findings depend on; false if their state is not known. If only a session's
// bytes say which agent wrote it, it must not be in a home.
func (c *Cache) common(a agent.Agent, opts lint.Options) ([]*database, bool) {
	if a == nil {
		return nil, opts.Home == ""
	}
	if bounded(a) == nil {
		return nil, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.home(a, opts.Home)
	return h.databases, !slices.ContainsFunc(h.databases, func(db *database) bool { return !db.rest })
}

// wide returns the state of everything that a session's result may depend on: own, and everything else in its home. It
// returns false if that is not known, if something in the home has just changed, or if something may have changed since the
// lookup was made (since).
func (c *Cache) wide(a agent.Agent, opts lint.Options, path string, own sum, since time.Time) (sum, bool) {
	if a == nil || opts.Home == "" {
		return sum{}, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.home(a, opts.Home)
	if h.walked.IsZero() {
		h.walk(bounded(a).SearchRoots(opts.Home))
	}
	if !h.known || h.walked.After(since) && !h.newest.Before(since) || !h.holds(path) {
		return sum{}, false
	}
	s := sha256.Sum256(append(own[:], h.all[:]...))
	return sum(s[:16]), true
}

// home returns the state of an agent's home.
func (c *Cache) home(a agent.Agent, dir string) *homeState {
	key := a.Name() + "\x00" + dir
	h := c.homes[key]
	if h == nil || !h.walked.IsZero() && time.Since(h.walked) > maxHomeAge {
		h = &homeState{}
		for _, d := range bounded(a).Databases(dir) {
			h.databases = append(h.databases, c.see(d))
		}
		c.homes[key] = h
	}
	return h
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
func examine(path string, info fs.FileInfo) (stamp, bool) {
	s, ok := stampOf(info)
	if !ok || !isPending(path) {
		return s, ok && atRest(info, s)
	}
	if time.Since(info.ModTime()) <= minRest {
		return s, false
	}
	text, err := source.Small(path, maxPending)
	h := sha256.Sum256(text)
	s.ChangeTime = int64(binary.LittleEndian.Uint64(h[:]))
	return s, err == nil
}

// unchanged says whether files are still as they were when they had these stamps.
func unchanged(paths []string, stamps []stamp) bool {
	for i, path := range paths {
		var now stamp
		info, err := os.Stat(path)
		if err == nil {
			now, _ = stampOf(info)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false
		}
		if isPending(path) && now != (stamp{}) {
			now.ChangeTime = stamps[i].ChangeTime
		}
		if now != stamps[i] {
			return false
		}
	}
	return true
}

// stampAll returns the stamps of files, which need not exist; false if one can't be examined or has just changed.
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
		s, ok := examine(path, info)
		if !ok {
			return nil, false
		}
		list = append(list, s)
	}
	return list, true
}

// walk examines everything below some paths, and the records of hist's own repairs.
func (h *homeState) walk(paths []string) {
	h.walked, h.known = time.Now(), true
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
			h.known = false
			return
		}
	}
	h.all = sumOf(list)
}

// errUnknown ends a walk that can't find out the state of everything.
var errUnknown = errors.New("the state of a file is not known")

// see returns the stamp of a file. A symbolic link to a directory is an error, because what it leads to is not walked.
func (h *homeState) see(path string, e fs.DirEntry) (stamp, error) {
	info, err := e.Info()
	if err == nil && e.Type()&fs.ModeSymlink != 0 {
		if info, err = os.Stat(path); err == nil && info.IsDir() {
			err = errUnknown
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return stamp{}, nil
	}
	if err != nil {
		return stamp{}, err
	}
	s, ok := examine(path, info)
	if !ok {
		return stamp{}, errUnknown
	}
	times := []int64{s.ModTime, s.ChangeTime}
	if isPending(path) {
		times = times[:1]
	}
	for _, at := range times {
		if at := time.Unix(0, at); at.After(h.newest) {
			h.newest = at
		}
	}
	return s, nil
}

// holds says whether a session is in one of the directories that were walked: only then were its neighbours examined, too.
func (h *homeState) holds(path string) bool {
	for _, root := range h.roots {
		if rel, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(rel) {
			return true
		}
	}
	return false
}

// atRest says whether the last change of a file is so long ago that a further change would give it another time.
func atRest(info fs.FileInfo, s stamp) bool {
	age := time.Since(info.ModTime())
	return age > minRest && time.Since(time.Unix(0, s.ChangeTime)) > minRest
}

// lookups says, after a lint, what that has looked at.
type lookups struct {
	further func() bool // at other files than the session's own, and more of its home than all findings there depend on
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
	var all []check.Kept // what opts.Kept has returned
	if kept := opts.Kept; kept != nil {
		opts.Kept = func(ctx context.Context, agent, home, base string) check.Kept {
			k := kept(ctx, agent, home, base)
			all = append(all, k)
			return k
		}
	}
	return lookups{
		further: func() bool {
			return looked || slices.ContainsFunc(all, func(k check.Kept) bool {
				f, ok := k.(interface{ Further() bool })
				return ok && f.Further()
			})
		},
		unread: func() bool {
			return slices.ContainsFunc(all, func(k check.Kept) bool {
				u, ok := k.(interface{ Unread() bool })
				return ok && u.Unread()
			})
		},
	}
}
