package inspect

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/source"
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
