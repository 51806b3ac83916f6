package cmd

import (
	"path/filepath"

	"github.com/hist-cli/hist/internal/agent/all"
)

// place is what the files of one directory have in common.
type place struct {
	dir  string
	own  bool   // it is hist's own
	home string // the home that its path names, "" if it names none
	all  bool   // all sessions of the home were asked for

	lists []string // files in it that may be a client's lists, not sessions
}

// isHome says whether a directory is an agent's home, or holds all of its live sessions.
func isHome(dir, home string) bool {
	if home == "" {
		return false
	}
	abs, err := filepath.Abs(dir)
	return err == nil && (abs == home || abs == all.LiveSessions(home))
}

// homeOf returns the agent's home that a path is in, "" if it is in none. It looks for the directories that the agent makes
// there: in the path itself, in the path with its symbolic links resolved, or in the user's home if those directories are links
// themselves.
func homeOf(path string) string {
	if dir := homeAbove(path); dir != "" {
		return dir
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	if dir := homeAbove(real); dir != "" {
		return dir
	}
	homes, err := defaultHomes("")
	if err != nil {
		return ""
	}
	for _, h := range homes {
		for _, dir := range h.agent.Sessions(h.dir) {
			if to, err := filepath.EvalSymlinks(dir); err == nil && inside(real, to) {
				return h.dir
			}
		}
	}
	return ""
}

// inside says whether a path is somewhere below a directory.
func inside(path, dir string) bool {
	abs, err := filepath.Abs(path)
	if err != nil {
		return false
	}
	rel, err := filepath.Rel(dir, abs)
	return err == nil && filepath.IsLocal(rel)
}

// homeAbove is homeOf, judged by the names in the path only.
func homeAbove(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return ""
	}
	for _, a := range all.Homed() {
		if dir := a.HomeAbove(abs); dir != "" {
			return dir
		}
	}
	return ""
}
