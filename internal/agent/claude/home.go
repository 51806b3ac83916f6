package claude

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/inuse"
	"github.com/hist-cli/hist/internal/jsonl"
)

// projects is the folder of a home that holds a folder of sessions for each working directory, promptsFile the list in it of
// the prompts that were typed.
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

// HomeAbove is what holds the projects folder that a path lies in, if it is the user's home for the client, is called as
// such, or if the folder in it is named for a working directory.
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

// Find returns the file of a session: the client looks into all project folders. A sub-agent's files are no sessions.
func (a Agent) Find(_ context.Context, home, id string) ([]string, error) {
	want := strings.ToLower(id)
	if len(want) > 36 || len(strings.ReplaceAll(want, "-", "")) < minPrefix || strings.Trim(want, "0123456789abcdef-") != "" {
		return nil, fmt.Errorf("%q: %w: expected a UUID or at least its first %d digits", id, agent.ErrBadID, minPrefix)
	}
	paths, err := filepath.Glob(filepath.Join(escapeGlob(home), projects, "*", want+"*"+extension))
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
		return nil, fmt.Errorf("%s: %w below %s", id, agent.ErrNoSession, home)
	case len(threads) > 1 && !threads[want]:
		return nil, &agent.AmbiguousError{ID: id, Paths: paths}
	}
	// The same id in several folders: the newest first.
	slices.SortStableFunc(paths, func(a, b string) int { return cmp.Compare(modified(b), modified(a)) })
	return paths[:1], nil
}

func modified(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.ModTime().UnixNano()
}

// escapeGlob takes a path word for word in a pattern.
func escapeGlob(path string) string {
	if filepath.Separator == '\\' {
		return path // there is no escape in patterns here
	}
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

// Named returns the ids of the sessions that users have renamed so.
func (Agent) Named(home, name string) ([]string, error) {
	paths, err := filepath.Glob(filepath.Join(escapeGlob(home), projects, "*", "*", "custom-title.json"))
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

// InUse says which running client has a session open: from 2.1.100 on each notes itself in sessions/PID.json. Between two
// writes nobody has the file itself open; older clients leave no sign.
func (Agent) InUse(path, home, thread string) (*inuse.Busy, error) {
	if home != "" && thread != "" {
		notes, err := filepath.Glob(filepath.Join(escapeGlob(home), "sessions", "*.json"))
		if err != nil {
			return nil, err
		}
		for _, p := range notes {
			raw, err := readSmall(p)
			if err != nil || !jsonl.Valid(raw) || !strings.EqualFold(gjson.GetBytes(raw, "sessionId").String(), thread) {
				continue
			}
			pid := int(gjson.GetBytes(raw, "pid").Int())
			if pid == 0 {
				pid, _ = strconv.Atoi(strings.TrimSuffix(filepath.Base(p), ".json"))
			}
			if pid > 0 && alive(pid) {
				return &inuse.Busy{PID: pid, Lock: p, Reason: fmt.Sprintf("process %d has the session open (%s)", pid, p)}, nil
			}
		}
	}
	return inuse.Written(path)
}

// Unnoticed is true of the versions that note themselves nowhere.
func (Agent) Unnoticed(version string) bool { return before(version, "2.1.100") }

// Asking is false: the client does not tell its tools in which session they run.
func (Agent) Asking(string) bool { return false }

// Lock does nothing: the client takes no locks.
func (Agent) Lock(string, string) (release func(), err error) { return func() {}, nil }

// Part says whether a file belongs to a session and is none of its own: a sub-agent's conversation.
func (Agent) Part(path string) bool {
	return strings.HasPrefix(filepath.Base(path), "agent-") && strings.HasSuffix(path, extension)
}

// Databases are none: what a session has not lost is told by it alone.
func (Agent) Databases(string) []agent.Database { return nil }

// Twins are none.
func (Agent) Twins(_, _ string) []string { return nil }

// SearchRoots are all sessions of a home, what is kept beside them, and the prompts that were typed.
func (a Agent) SearchRoots(home string) []string {
	return append(a.Lists(home), filepath.Join(home, projects))
}
