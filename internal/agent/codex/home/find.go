package home

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/walk"
)

// What callers of Find must tell apart; test with errors.Is.
var (
	ErrBadID     = agent.ErrBadID
	ErrNoSession = agent.ErrNoSession
	ErrAmbiguous = agent.ErrAmbiguous
)

// AmbiguousError is ErrAmbiguous, and says which.
type AmbiguousError = agent.AmbiguousError

// minPrefix is how many hexadecimal digits of an id must be given.
const minPrefix = 8

// Find returns the files of the thread id, newest first by the time and rollout id in their names: one as a rule, more
// when the thread was reverted or lies both in sessions/ and in archived_sessions/. The beginning of an id, eight
// hexadecimal digits or more, will do if no other thread begins so. A .zst that is hidden by its plain file is not
// returned. Names decide, as in Codex's own scan; what the files or its database say is not looked at.
func Find(ctx context.Context, home, id string) ([]string, error) {
	want := strings.ToLower(id)
	if !isIDPrefix(want) || len(strings.ReplaceAll(want, "-", "")) < minPrefix {
		return nil, fmt.Errorf("%q: %w: expected a UUID or at least its first %d digits", id, ErrBadID, minPrefix)
	}
	type hit struct {
		name FileName
		path string
	}
	var hits []hit
	var unread error
	threads := map[string]bool{}
	for _, root := range Sessions(home) {
		err := walk.Walk(ctx, root, func(e walk.Entry) error {
			if e.Err != nil {
				unread = cmp.Or(unread, fmt.Errorf("%s: %w", e.Path, e.Err))
				return nil
			}
			n, ok := ParseName(filepath.Base(e.Path))
			if ok && !e.Hidden && strings.HasPrefix(n.ThreadID, want) {
				hits = append(hits, hit{n, e.Path})
				threads[n.ThreadID] = true
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("looking for session %s: %w", id, err)
		}
	}
	switch {
	case len(threads) > 1:
		several := &AmbiguousError{ID: id}
		seen := map[string]bool{}
		for i := len(hits) - 1; i >= 0; i-- { // of a thread the file with the newest name, and the newest thread first
			if !seen[hits[i].name.ThreadID] {
				seen[hits[i].name.ThreadID] = true
				several.Paths = append(several.Paths, hits[i].path)
			}
		}
		return nil, several
	case len(hits) == 0 && unread != nil:
		return nil, fmt.Errorf("%s: %w below %s, but not everything could be read: %w", id, ErrNoSession, home, unread)
	case len(hits) == 0:
		return nil, fmt.Errorf("%s: %w below %s", id, ErrNoSession, home)
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
