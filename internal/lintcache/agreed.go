package lintcache

import (
	"crypto/sha256"
	"strings"
	"time"

	"github.com/hist-cli/hist/internal/source"
)

// fileSet is the state of some files at one time.
type fileSet struct {
	state sum
	known bool // one of them is there, all could be examined, and none has just changed
	until time.Time
}

// fileSetFor is how long the state of a set of files is used without examining them again.
const fileSetFor = time.Second

// Agreed says whether the cache knows that a session agrees with some files, which need not exist: that whoever compared them found
// nothing wrong. Neither the session nor any of the files has changed since. If it does not know, keep stores that they agree, as they
// were when Agreed was called.
func (c *Cache) Agreed(src *source.Source, files []string) (known bool, keep func()) {
	nothing := func() {}
	if c == nil || src.Real == "" {
		return false, nothing
	}
	file, ok := stampOf(src.Info)
	with, rest := c.setOf(files)
	if !ok || !rest || !atRest(src.Info, file) {
		return false, nothing
	}
	h := sha256.Sum256([]byte("agreed\x00" + src.Real))
	l := lookup{key: key(h[:16]).withKind(glanced), wide: func() (sum, bool) { return sum{}, false }}
	h = sha256.Sum256(append(file.append(make([]byte, 0, 64)), with[:]...))
	l.own = sum(h[:16])
	if c.find(l) != nil {
		return true, nothing
	}
	return false, func() { c.add(l.key, l.own, []byte{1}) }
}

// setOf returns the state of some files; false if none is there, if one of them can't be examined, or if one has just changed.
func (c *Cache) setOf(files []string) (sum, bool) {
	name := strings.Join(files, "\x00")
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.sets[name]
	if now := time.Now(); s == nil || now.After(s.until) {
		stamps, ok := stampAll(files)
		h := sha256.New()
		h.Write([]byte(name))
		there := false
		for _, one := range stamps {
			h.Write(one.append(nil))
			there = there || one != (stamp{})
		}
		s = &fileSet{sum(h.Sum(nil)[:16]), ok && there, now.Add(fileSetFor)}
		if c.sets == nil {
			c.sets = map[string]*fileSet{}
		}
		c.sets[name] = s
	}
	return s.state, s.known
}
