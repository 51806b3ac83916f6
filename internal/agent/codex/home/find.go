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
	hits, others, unread, err := find(ctx, home, want)
	if err != nil {
		return nil, fmt.Errorf("looking for session %s: %w", id, err)
	}
	if len(hits) == 0 {
		hits = byHeader(ctx, others, want)
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

// find walks over the sessions of a home. others are files whose names the client does not see; unread is why something in the
// home could not be looked at, nil if nothing.
func find(ctx context.Context, home, prefix string) (hits []hit, others []string, unread, err error) {
	for _, root := range Sessions(home) {
		err = walk.Walk(ctx, root, func(e walk.Entry) error {
			if e.Err != nil {
				unread = cmp.Or(unread, fmt.Errorf("%s: %w", e.Path, walk.Denied(e.Path, e.Err)))
				return nil
			}
			switch n, ok := ParseName(filepath.Base(e.Path)); {
			case e.Hidden:
			case !ok:
				others = append(others, e.Path)
			case strings.HasPrefix(n.ThreadID, prefix):
				hits = append(hits, hit{n, e.Path})
			}
			return nil
		})
		if err != nil {
			return nil, nil, nil, err
		}
	}
	return hits, others, unread, nil
}

// maxHeader is how much of a file is read to learn its id, in bytes: in a header, the id comes first.
const maxHeader = 64 << 10

// byHeader are those of some files whose header has an id that begins so.
func byHeader(ctx context.Context, paths []string, prefix string) (hits []hit) {
	for _, path := range paths {
		if ctx.Err() != nil {
			return hits
		}
		head, err := source.Head(ctx, path, maxHeader)
		if err != nil {
			continue // asking for the file says why
		}
		line, _, _ := bytes.Cut(head, []byte("\n"))
		id := strings.ToLower(gjson.GetBytes(line, "payload.id").String())
		if gjson.GetBytes(line, "type").String() == "session_meta" && IsID(id) && strings.HasPrefix(id, prefix) {
			hits = append(hits, hit{FileName{ThreadID: id, RolloutID: filepath.Base(path)}, path})
		}
	}
	return hits
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
