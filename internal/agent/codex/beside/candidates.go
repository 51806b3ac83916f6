package beside

import (
	"bytes"
	"context"
	"os"
	"path/filepath"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/agent/codex/home"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// candidate is a file that may hold records of the session.
type candidate struct {
	path string
	kind relation
}

// candidates are the files that may hold the same records, the nearest first. Until there is a record by which a parent or a
// fork could be compared, these are only the files of the session itself.
func (c *copies) candidates(ctx context.Context, h session.Info) (list []candidate) {
	lost, kind := c.any || c.dead || c.stopped() || c.jumped || c.pairs.broken() || !c.headed || len(c.records) == 0, aCopy
	if c.unrepaired() && (c.jumped || len(c.files()) > 1) {
		kind = aTwin
	}
	listed := map[string]bool{} // there may be thousands
	add := func(kind relation, paths []string) {
		for _, path := range paths {
			if !listed[path] {
				listed[path] = true
				list = append(list, candidate{path, kind})
			}
		}
	}
	add(kind, c.files())
	if c.older != nil {
		add(aCopy, c.older())
	}
	if lost {
		add(kind, c.forks.copies(ctx, c.dir, c.name))
		if !c.jumped {
			kind = aCopy // somebody may have kept it before taking something out on purpose
		}
		for _, path := range c.files() {
			add(kind, home.Backups(path))
		}
	}
	if len(c.records) == 0 {
		return list
	}
	if h.ForkedFrom != "" {
		if found, err := home.Find(ctx, c.dir, h.ForkedFrom); err == nil {
			add(aRelative, found)
		}
	}
	if c.any || c.dead {
		add(aRelative, c.forks.of(ctx, c.dir, c.name.ThreadID))
	}
	return list
}

// doubled says whether the session is in the home twice, and hist has repaired neither file. If it has, what it removed from
// one is still in the other, on purpose.
func (c *copies) doubled() bool {
	if len(c.files()) < 2 {
		return false
	}
	c.further = true // the records of repairs decide
	return c.unrepaired()
}

func (c *copies) unrepaired() bool { return c.older == nil || len(c.older()) == 0 }

// files are those of the home that have the session's name, plain or compressed, in the folder of its day or in the archive.
func (c *copies) files() (list []string) {
	for _, path := range home.Twins(c.dir, c.base) {
		if _, err := os.Stat(path); err == nil {
			list = append(list, path)
		}
	}
	return list
}

func headerOf(ctx context.Context, path string) (session.Info, bool) {
	line := headerLine(ctx, path)
	return codex.ReadHeader(line), line != nil
}

// headerLine is the first line of a session's file if it is a header, otherwise nil.
func headerLine(ctx context.Context, path string) []byte {
	line := bytes.TrimRight(firstLine(linesIn(ctx, path)), "\r\n")
	dec := codex.Decoder{}
	v := jsonl.NewScanner(dec.Shape()).Scan(line, make([]jsonl.Span, dec.Paths()))
	if v.Fault != jsonl.None || v.Surrogate >= 0 || !codex.IsHeader(line) {
		return nil // it may be the damaged header of the session itself
	}
	return line
}

// within names a file in a report, by its path below the home.
func within(home, path string) string {
	if rel, err := filepath.Rel(home, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}
