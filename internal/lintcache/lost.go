package lintcache

import (
	"context"
	"crypto/sha256"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/hist-cli/hist/internal/glance"
	"github.com/hist-cli/hist/lint"
)

// Lost is glance.Lost of the sessions of a home, which are at these paths. The findings come from the cache if no session has
// come, gone or changed; else only the sessions that have changed are read. One that can't be read is left out.
func (c *Cache) Lost(ctx context.Context, home string, paths []string) map[string][]lint.Finding {
	var l lookup
	if state, ok := stateOf(c, paths); ok {
		s := sha256.Sum256([]byte("compared\x00" + home))
		l = lookup{key: key(s[:16]).withKind(glanced), own: state, wide: func() (sum, bool) { return sum{}, false }}
		if found, err := readLost(c.find(l), paths); err == nil {
			return found
		}
	}
	var sessions []*glance.Session
	for _, r := range glance.ManyBy(paths, func(path string) (*glance.Session, error) { return c.Glance(ctx, path) }) {
		if r.Err == nil {
			sessions = append(sessions, r.Session)
		}
	}
	found := glance.Lost(ctx, sessions)
	if l.own != (sum{}) && len(sessions) == len(paths) {
		var code coder
		code.lost(found, paths)
		c.add(l.key, l.own, code.b)
	}
	return found
}

// stateOf returns the state of some files; false if there is no cache, if one of them can't be examined, or if one has just
// changed.
func stateOf(c *Cache, paths []string) (sum, bool) {
	if c == nil || len(paths) == 0 {
		return sum{}, false
	}
	stamps := make([]stamp, len(paths))
	each := (len(paths)-1)/runtime.GOMAXPROCS(0) + 1
	var unknown atomic.Bool
	var wg sync.WaitGroup
	for from := 0; from < len(paths); from += each {
		wg.Go(func() {
			for i := from; i < min(from+each, len(paths)); i++ {
				info, err := os.Stat(paths[i])
				s, ok := stampOf(info)
				if err != nil || !ok || !atRest(info, s) {
					unknown.Store(true)
					return
				}
				stamps[i] = s
			}
		})
	}
	wg.Wait()
	if unknown.Load() {
		return sum{}, false
	}
	h := sha256.New()
	var text []byte
	for i, s := range stamps {
		text = append(append(s.append(text[:0]), paths[i]...), 0)
		h.Write(text)
	}
	return sum(h.Sum(nil)[:16]), true
}

func readLost(text []byte, paths []string) (map[string][]lint.Finding, error) {
	code, found := decoder(text), map[string][]lint.Finding{}
	code.lost(found, paths)
	if code.bad || len(code.b) > 0 {
		return nil, errCode
	}
	return found, nil
}

// lost codes the findings about some of a list of paths, which it names by their places in the list.
func (c *coder) lost(found map[string][]lint.Finding, paths []string) {
	var places []int
	for i, p := range paths {
		if len(found[p]) > 0 {
			places = append(places, i)
		}
	}
	count := len(places)
	c.integer(&count)
	for n := 0; n < count && !c.bad; n++ {
		at := 0
		if !c.reading {
			at = places[n]
		}
		c.integer(&at)
		if at < 0 || at >= len(paths) {
			c.bad = true
			return
		}
		list := slices.Clone(found[paths[at]])
		c.findings(&list)
		found[paths[at]] = list
	}
}
