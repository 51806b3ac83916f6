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

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/disk"
	"github.com/hist-cli/hist/internal/walk"
)

const (
	extension   = ".jsonl"
	sessionsDir = "sessions" // of a home, with a folder for each working directory
	minPrefix   = 8          // how much of an id must be given

	lockExtension = ".lock"
)

// defaultHome is $PI_CODING_AGENT_DIR or ~/.pi/agent.
func defaultHome() (string, error) { return agent.DefaultHome("PI_CODING_AGENT_DIR", ".pi/agent") }

// liveAt is the folder of sessions.
func liveAt(home string) string { return filepath.Join(home, sessionsDir) }

// live is the same, "" if it is not there or is another agent's: those have no folders that are named for directories.
func live(home string) string {
	own, _ := defaultHome()
	if named, _ := filepath.Glob(filepath.Join(walk.Literal(liveAt(home)), "--*--")); len(named) > 0 || home == own && disk.IsDir(liveAt(home)) {
		return liveAt(home)
	}
	return ""
}

// sessions is the folder of sessions.
func sessions(home string) []string {
	if dir := live(home); dir != "" {
		return []string{dir}
	}
	return nil
}

// homeAbove is the directory above the folder of sessions in which a path lies, by the form of its project's folder.
func homeAbove(path string) string {
	folder := filepath.Dir(path)
	name, root := filepath.Base(folder), filepath.Dir(folder)
	if filepath.Base(root) == sessionsDir && strings.HasPrefix(name, "--") && strings.HasSuffix(name, "--") {
		return filepath.Dir(root)
	}
	return ""
}

// find returns the file of the session whose header has an id, or the newest of those whose id begins so: like the client, in the folder of
// each directory.
func find(_ context.Context, home, id string) ([]string, error) {
	bad := fmt.Errorf("%q: %w: expected an id or at least its first %d characters", id, agent.ErrBadID, minPrefix)
	if !isID(strings.TrimRight(id, "-")) {
		return nil, bad
	}
	paths, err := filepath.Glob(filepath.Join(walk.Literal(liveAt(home)), "*", "*"+extension))
	if err != nil {
		return nil, fmt.Errorf("looking for session %s: %w", id, err)
	}
	var found []string
	ids := map[string]bool{}
	for _, p := range paths {
		is := readName(filepath.Base(p)).ThreadID
		if is == "" || !strings.HasPrefix(is, id) { // the header counts, but most have the id of their name
			is = about(headOf(p)).Info.ID
		}
		switch {
		case is == id:
			return []string{p}, nil
		case len(id) >= minPrefix && strings.HasPrefix(is, id):
			ids[is] = true
			found = append(found, p)
		}
	}
	switch {
	case len(id) < minPrefix:
		return nil, bad
	case len(found) == 0:
		if _, err := os.ReadDir(liveAt(home)); os.IsPermission(err) {
			return nil, fmt.Errorf("%s: %w below %s: %w", id, agent.ErrShut, home, walk.Denied(liveAt(home), disk.Cause(err)))
		}
		return nil, fmt.Errorf("%s: %w below %s", id, agent.ErrNoSession, home)
	case len(ids) > 1:
		return nil, &agent.AmbiguousError{ID: id, Paths: found}
	}
	return found[:1], nil
}

// inUse says who uses a session: nothing in its folder tells, so it is a process that writes to the file or a client in its directory.
func inUse(path, _, _ string) (*disk.Busy, error) {
	if busy, err := disk.Written(path); busy != nil || err != nil {
		return busy, err
	}
	// OpenClaw, which keeps sessions in this form, puts a lock beside one that it writes to.
	if pid := int(gjson.GetBytes(headOf(path+lockExtension), "pid").Int()); pid > 0 && disk.ProcessAlive(pid) {
		return &disk.Busy{PID: pid, Lock: path + lockExtension, Reason: fmt.Sprintf("process %d holds its lock", pid)}, nil
	}
	cwd := about(headOf(path)).Info.CWD
	procs, _ := os.ReadDir("/proc")
	for _, p := range procs {
		pid, err := strconv.Atoi(p.Name())
		if err != nil || cwd == "" || pid == os.Getpid() {
			continue
		}
		args := disk.ProcessArgs(pid)
		client := len(args) > 0 && (args[0] == "pi" || len(args) > 1 && strings.Contains(args[1], "pi-coding-agent"))
		if at, err := os.Readlink(filepath.Join("/proc", p.Name(), "cwd")); client && err == nil && at == cwd {
			return &disk.Busy{PID: pid, Reason: fmt.Sprintf("process %d is a client in the session's directory, and may have it open", pid)}, nil
		}
	}
	return nil, nil
}

// asking says whether this process was started by the client while it works in the session.
func asking(thread string) bool { return thread != "" && os.Getenv("PI_SESSION_ID") == thread }

// folderFor is where the client looks for the sessions of a directory.
func folderFor(home, cwd string) (string, error) {
	return filepath.Join(liveAt(home), folderOf(cwd)), nil
}

// last is the file that was written last in the folder of a directory, of those with a header.
func last(_ context.Context, home, cwd string, _ bool) (string, error) {
	folder := "*"
	if cwd != "" {
		folder = walk.Literal(folderOf(cwd))
	}
	paths, err := filepath.Glob(filepath.Join(walk.Literal(liveAt(home)), folder, "*"+extension))
	if err != nil {
		return "", err
	}
	slices.SortStableFunc(paths, func(x, y string) int { return cmp.Compare(walk.Modified(y), walk.Modified(x)) })
	for _, p := range paths {
		if about(headOf(p)).Fault == "" {
			return p, nil
		}
	}
	return "", nil
}
