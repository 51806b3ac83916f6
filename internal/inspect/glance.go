package inspect

import (
	"context"
	"crypto/sha256"
	"os"

	"github.com/hist-cli/hist/internal/glance"
	"github.com/hist-cli/hist/internal/source"
)

// Glance returns the fields of a session that glance.Lost compares, from the cache if the file has not changed. The last prompt
// is replaced by its hash.
func (c *Cache) Glance(ctx context.Context, path string) (*glance.Session, error) {
	var l lookup
	if c != nil {
		info, err := os.Stat(path)
		file, ok := source.StampOf(info)
		if err == nil && ok && atRest(info, file) {
			s := sha256.Sum256([]byte(path))
			l = lookup{key: key(s[:16]).withKind(glanced), own: sumOf([]source.Stamp{file})}
			if s, err := readGlance(path, c.find(l)); err == nil {
				return s, nil
			}
		}
	}
	s, err := glance.Look(ctx, path, glance.Options{Content: true, Lost: true})
	if err != nil {
		return nil, err
	}
	s.HashPrompt()
	if l.own != (sum{}) {
		var code coder
		code.glance(s)
		c.add(l, code.b)
	}
	return s, nil
}

func readGlance(path string, text []byte) (*glance.Session, error) {
	code := decoder(text)
	s := &glance.Session{Path: path}
	code.glance(s)
	if code.bad || len(code.b) > 0 {
		return nil, errCode
	}
	return s, nil
}
