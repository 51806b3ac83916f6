package inspect

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/walk"
	"github.com/hist-cli/hist/lint"
)

// names are those of the files in a directory.
type names struct {
	are   map[string]bool
	known bool // it could be read
	until time.Time
}

// namesFor is how long the names in a directory are used without reading them again.
const namesFor = time.Second

// twins adds to a text that is to be hashed at which paths a file of the session lies; false if that can't be found out.
func (c *Cache) twins(ctx context.Context, a *agent.Agent, opts lint.Options, path string, text []byte) ([]byte, bool) {
	if a == nil || opts.Home == "" || bounds(a).Twins == nil {
		return text, true
	}
	for _, twin := range bounds(a).Twins(opts.Home, opts.Name.Base) {
		there, ok := c.exists(walk.RecentOf(ctx), twin, path)
		if !ok {
			return nil, false
		}
		if there {
			text = append(text, 1)
		} else {
			text = append(text, 0)
		}
	}
	return text, true
}

// exists says whether there is a file at a path, by the list of its directory, which is read once for all sessions. One that is known
// to be there is not looked at.
func (c *Cache) exists(recent *walk.Recent, path, known string) (there, ok bool) {
	if path == known {
		return true, true
	}
	dir, base := filepath.Split(path)
	c.listing.Lock()
	n := c.listed[dir]
	if at := time.Now(); n == nil || at.After(n.until) {
		n = &names{are: map[string]bool{}, until: at.Add(namesFor)}
		entries, err := recent.ReadDir(filepath.Clean(dir))
		for _, e := range entries {
			n.are[e.Name()] = true
		}
		n.known = err == nil || errors.Is(err, fs.ErrNotExist)
		if c.listed == nil {
			c.listed = map[string]*names{}
		}
		c.listed[dir] = n
	}
	c.listing.Unlock()
	if !n.known || !n.are[base] {
		return false, n.known
	}
	_, err := os.Stat(path)
	return err == nil, err == nil || errors.Is(err, fs.ErrNotExist)
}
