package pi

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/cause"
	"github.com/hist-cli/hist/internal/inuse"
	"github.com/hist-cli/hist/internal/walk"
)

const (
	extension   = ".jsonl"
	sessionsDir = "sessions" // of a home, with a folder for each working directory
	minPrefix   = 4          // how much of an id must be given
)

// DefaultHome is $PI_CODING_AGENT_DIR or ~/.pi/agent.
func (Agent) DefaultHome() (string, error) {
	if dir := os.Getenv("PI_CODING_AGENT_DIR"); dir != "" {
		return filepath.Abs(dir)
	}
	user, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("looking for ~/.pi/agent: %w; set PI_CODING_AGENT_DIR", err)
	}
	return filepath.Join(user, ".pi", "agent"), nil
}

// LiveAt is the folder of sessions.
func (Agent) LiveAt(home string) string { return filepath.Join(home, sessionsDir) }

// Live is the same, "" if it is not there or is another agent's: those have no folders that are named for directories.
func (a Agent) Live(home string) string {
	own, _ := a.DefaultHome()
	if named, _ := filepath.Glob(filepath.Join(walk.Literal(a.LiveAt(home)), "--*--")); len(named) > 0 || home == own && isDir(a.LiveAt(home)) {
		return a.LiveAt(home)
	}
	return ""
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// Sessions is the folder of sessions.
func (a Agent) Sessions(home string) []string {
	if dir := a.Live(home); dir != "" {
		return []string{dir}
	}
	return nil
}

// Lists are none: the folder of files is all there is.
func (Agent) Lists(string) []string { return nil }

// Folder is the folder of a project.
func (Agent) Folder() string { return "a folder of sessions/" }

// HomeAbove is the directory above the folder of sessions in which a path lies, by the form of its project's folder.
func (Agent) HomeAbove(path string) string {
	folder := filepath.Dir(path)
	name, root := filepath.Base(folder), filepath.Dir(folder)
	if filepath.Base(root) == sessionsDir && strings.HasPrefix(name, "--") && strings.HasSuffix(name, "--") {
		return filepath.Dir(root)
	}
	return ""
}

// Find returns the file of the session whose header has an id, or the newest of those whose id begins so: like the client, in the folder of
// each directory.
func (a Agent) Find(_ context.Context, home, id string) ([]string, error) {
	if len(id) < minPrefix || !IsID(strings.TrimRight(id, "-")) {
		return nil, fmt.Errorf("%q: %w: expected an id or at least its first %d characters", id, agent.ErrBadID, minPrefix)
	}
	paths, err := filepath.Glob(filepath.Join(walk.Literal(a.LiveAt(home)), "*", "*"+extension))
	if err != nil {
		return nil, fmt.Errorf("looking for session %s: %w", id, err)
	}
	var found []string
	ids := map[string]bool{}
	for _, p := range paths {
		is := a.ReadName(filepath.Base(p)).ThreadID
		if is == "" || !strings.HasPrefix(is, id) { // the header counts, but most have the id of their name
			is = a.About(headOf(p)).Info.ID
		}
		switch {
		case is == id:
			return []string{p}, nil
		case strings.HasPrefix(is, id):
			ids[is] = true
			found = append(found, p)
		}
	}
	switch {
	case len(found) == 0:
		if _, err := os.ReadDir(a.LiveAt(home)); os.IsPermission(err) {
			return nil, fmt.Errorf("%s: %w below %s: %w", id, agent.ErrShut, home, cause.Denied(a.LiveAt(home), cause.Of(err)))
		}
		return nil, fmt.Errorf("%s: %w below %s", id, agent.ErrNoSession, home)
	case len(ids) > 1:
		return nil, &agent.AmbiguousError{ID: id, Paths: found}
	}
	return found[:1], nil
}

// Named is none: names stand in the sessions.
func (Agent) Named(_, _ string) ([]string, error) { return nil, nil }

// InUse says who uses a session: nothing in its folder tells, so it is a process that writes to the file or a client in its directory.
func (a Agent) InUse(path, _, _ string) (*inuse.Busy, error) {
	if busy, err := inuse.Written(path); busy != nil || err != nil {
		return busy, err
	}
	cwd := a.About(headOf(path)).Info.CWD
	procs, _ := os.ReadDir("/proc")
	for _, p := range procs {
		pid, err := strconv.Atoi(p.Name())
		if err != nil || cwd == "" || pid == os.Getpid() {
			continue
		}
		args := inuse.Args(pid)
		client := len(args) > 0 && (args[0] == "pi" || len(args) > 1 && strings.Contains(args[1], "pi-coding-agent"))
		if at, err := os.Readlink(filepath.Join("/proc", p.Name(), "cwd")); client && err == nil && at == cwd {
			return &inuse.Busy{PID: pid, Reason: fmt.Sprintf("process %d is a client in the session's directory, and may have it open", pid)}, nil
		}
	}
	return nil, nil
}

// Unnoticed is true: between two writes a client leaves no sign of which session it has open.
func (Agent) Unnoticed(string) bool { return true }

// Asking says whether this process was started by the client while it works in the session.
func (Agent) Asking(thread string) bool { return thread != "" && os.Getenv("PI_SESSION_ID") == thread }

// TakesAny is true: the client knows no difference between sessions of persons and of scripts.
func (Agent) TakesAny([]string) bool { return true }

// Lock does nothing: the client takes no locks.
func (Agent) Lock(_, _ string) (release func(), err error) { return func() {}, nil }

// OnlyInPlace is true: from another directory the client offers to fork a session instead.
func (Agent) OnlyInPlace(string) bool { return true }

// FolderFor is where the client looks for the sessions of a directory.
func (a Agent) FolderFor(home, cwd string) (string, error) {
	return filepath.Join(a.LiveAt(home), folderOf(cwd)), nil
}

// Last is the file that was written last in the folder of a directory, of those with a header.
func (a Agent) Last(_ context.Context, home, cwd string, _ bool) (string, error) {
	folder := "*"
	if cwd != "" {
		folder = walk.Literal(folderOf(cwd))
	}
	paths, err := filepath.Glob(filepath.Join(walk.Literal(a.LiveAt(home)), folder, "*"+extension))
	if err != nil {
		return "", err
	}
	slices.SortStableFunc(paths, func(x, y string) int { return cmp.Compare(walk.Modified(y), walk.Modified(x)) })
	for _, p := range paths {
		if a.About(headOf(p)).Fault == "" {
			return p, nil
		}
	}
	return "", nil
}

var (
	_ agent.Homed     = Agent{}
	_ agent.Local     = Agent{}
	_ agent.Foldered  = Agent{}
	_ agent.Continuer = Agent{}
	_ agent.Unnoticed = Agent{}
)
