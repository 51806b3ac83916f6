package cmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/format"
	"github.com/hist-cli/hist/internal/inspect"
	"github.com/hist-cli/hist/lint"
)

// sameSession is which files of a run hold the same session: a snapshot, a backup, or a second copy of it.
type sameSession struct {
	files map[string][]string // by agent and id
	ids   []string            // of those that several files hold, in the order in which that was seen
}

// maxCompared is how many sessions that several files hold are compared.
const maxCompared = 16

// add notes a file that was linted. A sub-agent's file of Claude Code names its parent's id, and is no copy of that.
func (s *sameSession) add(r linted) {
	if r.src == nil || r.src.Real == "" || r.result == nil || r.result.Summary.Partial != nil {
		return
	}
	id := lint.NameOf(r.src.Name, true).FileID
	if id == "" && !all.Part(r.src.Name) {
		id = r.result.Summary.Header.ID
	}
	if id == "" {
		return
	}
	if s.files == nil {
		s.files = map[string][]string{}
	}
	id = r.result.Summary.Agent + " " + id
	if slices.Contains(s.files[id], r.src.Path) {
		return
	}
	if s.files[id] = append(s.files[id], r.src.Path); len(s.files[id]) == 2 {
		s.ids = append(s.ids, id)
	}
}

// told says of each session that several files hold what each of them has alone; nothing of files that hold the same.
func (s *sameSession) told(ctx context.Context) (list []string) {
	for _, id := range s.ids[:min(len(s.ids), maxCompared)] {
		paths := s.files[id]
		held := inspect.Hold(ctx, paths)
		if !slices.ContainsFunc(held, func(h inspect.Held) bool { return h.Alone > 0 }) {
			continue
		}
		each := make([]string, len(paths))
		for i, h := range held {
			each[i] = paths[i] + " " + holds(h)
		}
		line := "files of one session: " + strings.Join(each, "; ")
		if len(paths) == 2 && held[0].Lines {
			line += "; " + format.Command("hist", "join", paths[0], paths[1]) + " puts them together"
		}
		list = append(list, line)
	}
	return list
}

// holds says what one of several files of a session holds.
func holds(h inspect.Held) string {
	words := "holds " + count(h.Items, "item", "items") + " of the history"
	if h.Alone > 0 {
		words += fmt.Sprintf(", %d of which no other holds", h.Alone)
	}
	return words
}
