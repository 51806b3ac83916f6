package home

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Asker asks of many sessions whether they are in use. What a migration has prepared in a directory it reads once for all
// the sessions that it asks about in the next moment, in place of looking at several names for each. The zero Asker is
// ready; it may be used by several goroutines.
type Asker struct {
	mu          sync.Mutex
	directories map[string]*asked
}

// asked is what is known of a directory.
type asked struct {
	times    int // that a session of it was asked about
	unstaged bool
	until    time.Time
}

const (
	fewSessions = 8 // for so many of a directory it is not worth reading it
	moment      = time.Second
)

// InUse is RealInUse.
func (a *Asker) InUse(real, home, threadID string) (*Busy, error) {
	return inUse(real, home, threadID, a.unstaged(filepath.Dir(real)))
}

// unstaged says whether it is known that a directory holds nothing that a migration has prepared.
func (a *Asker) unstaged(dir string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	d := a.directories[dir]
	if d == nil {
		if a.directories == nil {
			a.directories = map[string]*asked{}
		}
		d = &asked{}
		a.directories[dir] = d
	}
	if d.times++; d.times <= fewSessions {
		return false
	}
	if time.Now().After(d.until) {
		d.unstaged = nothingStaged(dir)
		d.until = time.Now().Add(moment)
	}
	return d.unstaged
}

func nothingStaged(dir string) bool {
	f, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	return err == nil && !slices.ContainsFunc(names, func(name string) bool {
		return strings.HasPrefix(name, ".") && slices.ContainsFunc(stagedSuffixes, func(suffix string) bool { return strings.HasSuffix(name, suffix) })
	})
}
