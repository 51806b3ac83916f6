package home

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/internal/walk"
)

// minPrefix is how many hexadecimal digits of an id must be given.
const minPrefix = 8

// Find returns the files of the thread id, newest first by the time and rollout id in their names: one as a rule, more
// when the thread was reverted or lies both in sessions/ and in archived_sessions/. The beginning of an id, eight
// hexadecimal digits or more, will do if no other thread begins so. A .zst that is hidden by its plain file is not
// returned. Names decide, as in Codex's own scan; what the files or its database say is not looked at, unless no name has the
// id: then the headers of files do that lie there under names that the client does not see.
func Find(ctx context.Context, home, id string) ([]string, error) {
	want := strings.ToLower(id)
	if !isIDPrefix(want) || len(strings.ReplaceAll(want, "-", "")) < minPrefix {
		return nil, fmt.Errorf("%q: %w: expected a UUID or at least its first %d digits", id, agent.ErrBadID, minPrefix)
	}
	hits, unread, err := find(ctx, home, want)
	if err != nil {
		return nil, fmt.Errorf("looking for session %s: %w", id, err)
	}
	if several := newestOfEach(hits); len(several) > 1 {
		return nil, &agent.AmbiguousError{ID: id, Paths: several}
	}
	switch {
	case len(hits) == 0 && unread != nil:
		return nil, fmt.Errorf("%s: %w below %s: %w", id, agent.ErrShut, home, unread)
	case len(hits) == 0:
		return nil, fmt.Errorf("%s: %w below %s", id, agent.ErrNoSession, home)
	}
	slices.SortStableFunc(hits, func(a, b hit) int {
		return cmp.Or(strings.Compare(b.name.Time, a.name.Time), strings.Compare(b.name.RolloutID, a.name.RolloutID))
	})
	paths := make([]string, len(hits))
	for i, h := range hits {
		paths[i] = h.path
	}
	return paths, nil
}

// Twins are the paths at which a session with this name is looked for, as it is or compressed: in the folder of its day, and in
// the archive.
func Twins(home, base string) (paths []string) {
	archive := filepath.Join(home, "archived_sessions")
	dirs := []string{archive}
	if n, ok := ParseName(base); ok {
		if t, ok := session.ReadTime(nameTime, n.Time); ok {
			dirs = []string{filepath.Join(home, "sessions", t.Format("2006"), t.Format("01"), t.Format("02")), archive}
		}
	}
	for _, dir := range dirs {
		paths = append(paths, filepath.Join(dir, base), filepath.Join(dir, base+zstSuffix))
	}
	return paths
}

// hit is a file whose thread's id begins as one that is looked for.
type hit struct {
	name FileName
	path string
}

// find looks for the files of a thread, or of those whose ids begin so. unread is why something in the home could not be looked at, nil if
// nothing. A run over many sessions asks for the parents of many: it walks over the home for all of them at once.
func find(ctx context.Context, home, prefix string) (hits []hit, unread, err error) {
	recent, of := walk.RecentOf(ctx), prefix
	if recent != nil && IsID(prefix) {
		of = ""
	} else {
		recent = nil
	}
	named := recent.Once("names of "+home, func() any { return namesIn(ctx, home, of) }).(*names)
	if hits = named.hits(prefix); len(hits) == 0 && named.err == nil {
		hits = recent.Once("headers of "+home, func() any { return byHeader(ctx, named.others, of) }).(*names).hits(prefix)
	}
	return hits, named.unread, named.err
}

// names are the files of threads in a home.
type names struct {
	of          map[string][]hit // by thread
	list        []string         // the threads, in the order of the walk
	others      []string         // files whose names the client does not see
	unread, err error
}

func (n *names) add(h hit) {
	if n.of == nil {
		n.of = map[string][]hit{}
	}
	if n.of[h.name.ThreadID] == nil {
		n.list = append(n.list, h.name.ThreadID)
	}
	n.of[h.name.ThreadID] = append(n.of[h.name.ThreadID], h)
}

// hits are the files of the threads whose ids begin so.
func (n *names) hits(prefix string) (hits []hit) {
	if IsID(prefix) {
		return slices.Clone(n.of[prefix])
	}
	for _, id := range n.list {
		if strings.HasPrefix(id, prefix) {
			hits = append(hits, n.of[id]...)
		}
	}
	return hits
}

// namesIn walks over the sessions of a home.
func namesIn(ctx context.Context, home, prefix string) *names {
	named := &names{}
	for _, root := range Sessions(home) {
		err := walk.Walk(ctx, root, func(e walk.Entry) error {
			if e.Err != nil {
				named.unread = cmp.Or(named.unread, fmt.Errorf("%s: %w", e.Path, walk.Denied(e.Path, e.Err)))
				return nil
			}
			switch n, ok := ParseName(filepath.Base(e.Path)); {
			case e.Hidden:
			case !ok:
				named.others = append(named.others, e.Path)
			case strings.HasPrefix(n.ThreadID, prefix):
				named.add(hit{n, e.Path})
			}
			return nil
		})
		if err != nil {
			return &names{err: err}
		}
	}
	return named
}

// maxHeader is how much of a file is read to learn its id, in bytes: in a header, the id comes first.
const maxHeader = 64 << 10

// byHeader are those of some files whose header has an id that begins so.
func byHeader(ctx context.Context, paths []string, prefix string) *names {
	named := &names{}
	for _, path := range paths {
		if ctx.Err() != nil {
			return named
		}
		head, err := source.Head(ctx, path, maxHeader)
		if err != nil {
			continue // asking for the file says why
		}
		line, _, _ := bytes.Cut(head, []byte("\n"))
		id := strings.ToLower(gjson.GetBytes(line, "payload.id").String())
		if gjson.GetBytes(line, "type").String() == "session_meta" && IsID(id) && strings.HasPrefix(id, prefix) {
			named.add(hit{FileName{ThreadID: id, RolloutID: filepath.Base(path)}, path})
		}
	}
	return named
}

// newestOfEach are the files with the newest name, one of each thread, the newest thread first; hits are in the order of names.
func newestOfEach(hits []hit) (paths []string) {
	seen := map[string]bool{}
	for _, h := range slices.Backward(hits) {
		if !seen[h.name.ThreadID] {
			seen[h.name.ThreadID] = true
			paths = append(paths, h.path)
		}
	}
	return paths
}
