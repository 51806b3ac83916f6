package inspect

import (
	"context"
	"os"

	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/internal/timeline"
	"github.com/hist-cli/hist/lint"
)

// Glance returns the fields of a session that timeline.Lost compares, from the cache if the file has not changed. The last prompt
// is replaced by its hash.
func (c *Cache) Glance(ctx context.Context, path string) (*timeline.Glance, error) {
	var l lookup
	if c != nil {
		info, err := os.Stat(path)
		file, ok := source.StampOf(info)
		if err == nil && ok && atRest(info, file) {
			l = lookup{key: key(sumOf([]byte(path))).withKind(glanced), own: sumOf(file.Append(nil))}
			if s, err := readGlance(path, c.find(l)); err == nil {
				return s, nil
			}
		}
	}
	s, err := timeline.Look(ctx, path, timeline.LookOptions{Content: true, Lost: true})
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

func readGlance(path string, text []byte) (*timeline.Glance, error) {
	code := decoder(text)
	s := &timeline.Glance{Path: path}
	code.glance(s)
	if code.bad || len(code.b) > 0 {
		return nil, errCode
	}
	return s, nil
}

// Lost is timeline.Lost of the sessions of a home, which are at these paths: only those that have changed are read. One that can't be
// read is left out.
func (c *Cache) Lost(ctx context.Context, paths []string) map[string][]lint.Finding {
	var sessions []*timeline.Glance
	for _, r := range timeline.LookManyBy(paths, func(path string) (*timeline.Glance, error) { return c.Glance(ctx, path) }) {
		if r.Err == nil {
			sessions = append(sessions, r.Session)
		}
	}
	return timeline.Lost(ctx, sessions)
}
