package home

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hist-cli/hist/internal/walk"
)

// Asker asks of many sessions whether they are in use. What a migration has prepared in a directory, and which threads have a
// lock or a migration's journal, it reads once for all the sessions that it asks about in the next moment, in place of looking
// at several names for each. Who opens a session within that moment is still seen by the open file. It may be used by several
// goroutines.
type Asker struct {
	recent      *walk.Recent
	mu          sync.Mutex
	directories map[place]*asked
}

// NewAsker returns an Asker for a run that may have read the directories a moment ago.
func NewAsker(ctx context.Context) *Asker {
	return &Asker{recent: walk.RecentOf(ctx), directories: map[place]*asked{}}
}

// asked is what is known of a directory.
type asked struct {
	times int  // that a session was asked about for which it counts
	known bool // what follows is
	// staged says that something in it was prepared by a migration; names are those of its files that are no sessions, in lower
	// case.
	staged bool
	names  map[string]bool
	until  time.Time
}

const (
	fewSessions = 1 // for so many of a directory it is not worth reading it
	moment      = time.Second
)

// InUse is RealInUse.
func (a *Asker) InUse(real, home, threadID string) (*Busy, error) {
	a.mu.Lock()
	dir, _ := filepath.Split(real)
	none := marks{unstaged: a.of(dir, "", func(d *asked) bool { return !d.staged })}
	if home != "" && threadID != "" {
		id := strings.ToLower(threadID)
		none.unlocked = a.of(home, lockDir, func(d *asked) bool { return !d.names[id+lockSuffix] })
		none.unstarted = a.of(home, journalDir, func(d *asked) bool { return !d.names[id+journalSuffix] })
	}
	a.mu.Unlock()
	return inUse(real, home, threadID, none)
}

// of says whether a directory, or one below it, is known to be such that something holds.
func (a *Asker) of(dir, below string, holds func(*asked) bool) bool {
	at := place{dir, below}
	d := a.directories[at]
	if d == nil {
		d = &asked{}
		a.directories[at] = d
	}
	recent := a.recent
	if below != "" {
		recent = nil // locks come and go
	}
	if d.times++; d.times <= fewSessions && !recent.Knows(filepath.Clean(dir)) {
		return false
	}
	if now := time.Now(); now.After(d.until) {
		d.read(recent, filepath.Join(dir, below))
		d.until = now.Add(moment)
	}
	return d.known && holds(d)
}

// place is a directory: one below another, "" for that itself.
type place struct{ dir, below string }

// read lists a directory. One that is not there has no files.
func (d *asked) read(recent *walk.Recent, dir string) {
	d.known, d.staged, d.names = false, false, map[string]bool{}
	entries, err := recent.ReadDir(dir)
	if err != nil {
		d.known = errors.Is(err, fs.ErrNotExist)
		return
	}
	for _, e := range entries {
		name := e.Name()
		if !walk.IsSession(name) {
			d.names[strings.ToLower(name)] = true
		}
		d.staged = d.staged || strings.HasPrefix(name, ".") && slices.ContainsFunc(stagedSuffixes, func(suffix string) bool { return strings.HasSuffix(name, suffix) })
	}
	d.known = true
}
