package beside

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/hist-cli/hist/internal/agent/codex/home"
	"github.com/hist-cli/hist/internal/agent/codex/rules"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/internal/walk"
	"github.com/hist-cli/hist/lint"
)

// rollouts are the session files of a home.
type rollouts struct {
	of     map[string]carriers // by rollout id
	newest map[string]ofThread // by thread id, the one with the newest name
}

// ofThread is a file of a thread: after a revert it has several.
type ofThread struct {
	name home.FileName
	path string
}

// after says whether it was begun after another file of the thread.
func (n ofThread) after(other home.FileName) bool {
	return n.name.RolloutID != other.RolloutID && cmp.Or(strings.Compare(n.name.Time, other.Time), strings.Compare(n.name.RolloutID, other.RolloutID)) > 0
}

// carriers are the files that carry one rollout id.
type carriers struct {
	read  string   // the first that is not hidden by another, "" if each is
	first string   // of all
	more  []string // the others: few ids have any
}

func listRollouts(ctx context.Context, dir string) (rollouts, error) {
	r := rollouts{map[string]carriers{}, map[string]ofThread{}}
	for _, root := range home.Sessions(dir) {
		err := walk.Walk(ctx, root, func(e walk.Entry) error {
			name, ok := home.ParseName(filepath.Base(e.Path))
			if e.Err != nil || !ok {
				return nil // reported when the file itself is linted
			}
			of := r.of[name.RolloutID]
			if of.read == "" && !e.Hidden {
				of.read = e.Path
			}
			if of.first == "" {
				of.first = e.Path
			} else {
				of.more = append(of.more, e.Path)
			}
			r.of[name.RolloutID] = of
			if n := (ofThread{name, e.Path}); n.after(r.newest[name.ThreadID].name) {
				r.newest[name.ThreadID] = n
			}
			return nil
		})
		if err != nil {
			return r, err
		}
	}
	return r, nil
}

// Superseded says whether a thread has gone on in a newer file than the one at a path.
func (h *Home) Superseded(path string) bool {
	name, ok := home.ParseName(filepath.Base(path))
	if !ok {
		return false
	}
	files, err := h.files()
	return err == nil && files.newest[name.ThreadID].after(name)
}

// maxDuplicates is how many other files of a thread are named.
const maxDuplicates = 3

// duplicates reports that several files hold a session's thread: only once for all of them, at the first.
func duplicates(src *source.Source, name home.FileName, files rollouts) []lint.Finding {
	of := files.of[name.RolloutID]
	if len(of.more) == 0 || of.read == "" || !samePath(of.read, src.Real) {
		return nil
	}
	var others []string
	for _, path := range append([]string{of.first}, of.more...) {
		if !samePath(path, src.Real) {
			others = append(others, path)
		}
	}
	switch n := len(others); {
	case n == 0:
		return nil
	case n == 1:
		return []lint.Finding{ofFile(rules.DuplicateThread, fmt.Sprintf("%s carries the same thread %s", others[0], name.ThreadID))}
	case n > maxDuplicates:
		others = append(others[:maxDuplicates:maxDuplicates], fmt.Sprintf("%d more", n-maxDuplicates))
	}
	last := len(others) - 1
	return []lint.Finding{ofFile(rules.DuplicateThread, fmt.Sprintf("%s and %s carry the same thread %s", strings.Join(others[:last], ", "), others[last], name.ThreadID))}
}
