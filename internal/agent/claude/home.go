package claude

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/cause"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/walk"
)

// projects is the folder of a home that holds a folder of sessions for each working directory; promptsFile is the home's list
// of typed prompts.
const (
	projects    = "projects"
	promptsFile = "history.jsonl"
)

// DefaultHome is $CLAUDE_CONFIG_DIR or ~/.claude.
func (Agent) DefaultHome() (string, error) {
	if dir := os.Getenv("CLAUDE_CONFIG_DIR"); dir != "" {
		return filepath.Abs(dir)
	}
	user, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("looking for ~/.claude: %w; set CLAUDE_CONFIG_DIR", err)
	}
	return filepath.Join(user, ".claude"), nil
}

// Sessions is the projects folder.
func (a Agent) Sessions(home string) []string {
	if dir := a.Live(home); dir != "" {
		return []string{dir}
	}
	return nil
}

// Lists is the list of prompts.
func (Agent) Lists(home string) []string { return []string{filepath.Join(home, promptsFile)} }

// LiveAt is the projects folder.
func (Agent) LiveAt(home string) string { return filepath.Join(home, projects) }

// Live is the projects folder.
func (a Agent) Live(home string) string {
	dir := a.LiveAt(home)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return ""
	}
	return dir
}

// Folder is the folder of a project.
func (Agent) Folder() string { return "a folder of projects/" }

// HomeAbove is the directory that holds the projects folder in which a path lies, if it is the user's home for the client, has
// the name of one, or the path's folder is named for a working directory.
func (a Agent) HomeAbove(path string) string {
	own, _ := a.DefaultHome()
	below := ""
	for dir := filepath.Dir(path); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if filepath.Base(dir) == projects {
			home := filepath.Dir(dir)
			if home == own || filepath.Base(home) == ".claude" || strings.HasPrefix(below, "-") {
				return home
			}
		}
		below = filepath.Base(dir)
	}
	return ""
}

// minPrefix is how many hexadecimal digits of an id must be given.
const minPrefix = 8

// Find returns the files of a session: like the client, it looks into all project folders. A sub-agent's file is not a session.
func (a Agent) Find(_ context.Context, home, id string) ([]string, error) {
	want := strings.ToLower(id)
	if len(want) > 36 || len(strings.ReplaceAll(want, "-", "")) < minPrefix || strings.Trim(want, "0123456789abcdef-") != "" {
		return nil, fmt.Errorf("%q: %w: expected a UUID or at least its first %d digits", id, agent.ErrBadID, minPrefix)
	}
	paths, err := filepath.Glob(filepath.Join(walk.Literal(home), projects, "*", want+"*"+extension))
	if err != nil {
		return nil, fmt.Errorf("looking for session %s: %w", id, err)
	}
	threads := map[string]bool{}
	paths = slices.DeleteFunc(paths, func(p string) bool {
		name := strings.TrimSuffix(filepath.Base(p), extension)
		threads[name] = threads[name] || IsID(name)
		return !IsID(name)
	})
	switch {
	case len(paths) == 0:
		if shut := shutBelow(filepath.Join(home, projects)); shut != nil {
			return nil, fmt.Errorf("%s: %w below %s: %w", id, agent.ErrShut, home, shut)
		}
		return nil, fmt.Errorf("%s: %w below %s", id, agent.ErrNoSession, home)
	case len(threads) > 1 && !threads[want]:
		return nil, &agent.AmbiguousError{ID: id, Paths: paths}
	}
	// With the same id in several folders, the newest comes first.
	slices.SortStableFunc(paths, func(a, b string) int { return cmp.Compare(walk.Modified(b), walk.Modified(a)) })
	return paths[:1], nil
}

// Doubles are the files of the same name in other projects' folders: a project that was moved or copied leaves one.
func (Agent) Doubles(path, home string) []string {
	if !IsID(strings.TrimSuffix(filepath.Base(path), extension)) {
		return nil
	}
	paths, _ := filepath.Glob(filepath.Join(walk.Literal(home), projects, "*", filepath.Base(path))) // the pattern is sound
	mine, err := os.Stat(path)
	return slices.DeleteFunc(paths, func(p string) bool {
		info, none := os.Stat(p)
		return err != nil || none != nil || os.SameFile(mine, info)
	})
}

// shutBelow says why a directory, or one in it, may not be read; nil if all may.
func shutBelow(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%s: %w", dir, cause.Denied(dir, cause.Of(err)))
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		path := filepath.Join(dir, e.Name())
		if f, err := os.Open(path); err == nil {
			f.Close()
		} else if errors.Is(err, fs.ErrPermission) {
			return fmt.Errorf("%s: %w", path, cause.Denied(path, cause.Of(err)))
		}
	}
	return nil
}

// Named returns the ids of the sessions to which users have given a name, or which Claude Desktop shows under an id of its own.
func (Agent) Named(home, name string) ([]string, error) {
	if id, err := byTile(home, name); id != "" || err != nil {
		return []string{id}, err
	}
	paths, err := filepath.Glob(filepath.Join(walk.Literal(home), projects, "*", "*", "custom-title.json"))
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, p := range paths {
		raw, err := readSmall(p)
		if id := filepath.Base(filepath.Dir(p)); err == nil && jsonl.Valid(raw) && gjson.GetBytes(raw, "customTitle").String() == name && IsID(id) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// Unnoticed says whether a version registers nowhere that it has a session open.
func (Agent) Unnoticed(version string) bool { return before(version, "2.1.100") }

// Asking is false: the client does not tell its tools in which session they run.
func (Agent) Asking(string) bool { return false }

// Lock does nothing: the client takes no locks.
func (Agent) Lock(string, string) (release func(), err error) { return func() {}, nil }

// Part says whether a file is a part of a session, not a session itself: a sub-agent's conversation.
func (Agent) Part(path string) bool {
	return strings.HasPrefix(filepath.Base(path), "agent-") && strings.HasSuffix(path, extension)
}

// Databases returns none: this client keeps no database of a conversation.
func (Agent) Databases(string) []agent.Database { return nil }

// Twins returns none: a session has no second file.
func (Agent) Twins(_, _ string) []string { return nil }
