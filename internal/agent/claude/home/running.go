package home

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/disk"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/walk"
)

// inUse says which running client has a session open. From 2.1.100 on, each client registers in sessions/PID.json. Between two
// writes nobody has the file itself open, so older clients leave no sign.
func inUse(path, home, thread string) (*disk.Busy, error) {
	notes, err := notesOn(home, thread)
	if err != nil {
		return nil, err
	}
	for _, n := range notes {
		if disk.ProcessAlive(n.pid) && n.another() == "" {
			return &disk.Busy{PID: n.pid, Lock: n.path, Reason: fmt.Sprintf("process %d has the session open (%s)", n.pid, n.path)}, nil
		}
	}
	return disk.Written(path)
}

// staleNote says which note on a running client is about a process that is gone, where another one has its number now; "" if
// none is.
func staleNote(home, thread string) string {
	notes, _ := notesOn(home, thread) // InUse returns the error
	for _, n := range notes {
		if !disk.ProcessAlive(n.pid) {
			continue
		}
		if why := n.another(); why != "" {
			return fmt.Sprintf("%s is left of a client that is gone: %s", n.path, why)
		}
	}
	return ""
}

// note is what sessions/PID.json says of a client.
type note struct {
	path      string
	pid       int
	procStart string // when the process was started, in a form of its system's own; from a version between 2.1.100 and 2.1.215 on
	startedAt time.Time
}

// left are the notes of clients that are gone, which a client that was killed leaves, and those of editors (ide/PORT.lock).
func left(home string) (list []string) {
	for _, pattern := range []string{"sessions/*.json", "ide/*.lock"} {
		notes, _ := notesAt(home, pattern, func([]byte) bool { return true }) // what can't be read says nothing
		for _, n := range notes {
			if !disk.ProcessAlive(n.pid) || n.another() != "" && pattern == "sessions/*.json" {
				list = append(list, n.path)
			}
		}
	}
	return list
}

// notesOn are the notes of a home on clients that have a session open, whether they still run or not.
func notesOn(home, thread string) (list []note, err error) {
	if home == "" || thread == "" {
		return nil, nil
	}
	return notesAt(home, "sessions/*.json", func(raw []byte) bool {
		return strings.EqualFold(gjson.GetBytes(raw, "sessionId").String(), thread)
	})
}

// notesAt are those of a home's notes with names of this form that are wanted.
func notesAt(home, pattern string, wanted func(raw []byte) bool) (list []note, err error) {
	paths, err := filepath.Glob(filepath.Join(walk.Literal(home), filepath.FromSlash(pattern)))
	if err != nil {
		return nil, err
	}
	for _, p := range paths {
		raw, err := ReadSmall(p)
		if err != nil || !jsonl.Valid(raw) || !wanted(raw) {
			continue
		}
		n := note{path: p, pid: int(gjson.GetBytes(raw, "pid").Int()), procStart: gjson.GetBytes(raw, "procStart").String()}
		if ms := gjson.GetBytes(raw, "startedAt").Int(); ms > 0 {
			n.startedAt = time.UnixMilli(ms)
		}
		if n.pid == 0 { // an editor's file is named by its port, which is no number of a process
			n.pid, _ = strconv.Atoi(strings.TrimSuffix(filepath.Base(p), ".json"))
		}
		if n.pid > 0 {
			list = append(list, n)
		}
	}
	return list, nil
}

// clockSlack is by how much a client's clock and the system's start of a process may differ.
const clockSlack = 2 * time.Minute

// programs are what a client's command line names: itself, or what runs it.
var programs = []string{"claude", "node", "bun", "deno"}

// another says why the process with the note's number is another one than the client that wrote it; "" if nothing shows that.
// Numbers are given again, after a boot most of all, and a client that was killed leaves its note.
func (n note) another() string {
	ticks, begun, known := disk.ProcessStarted(n.pid)
	noted, err := strconv.ParseInt(n.procStart, 10, 64)
	switch {
	case !known:
		return ""
	case err == nil && noted == ticks:
		return ""
	case err == nil, !n.startedAt.IsZero() && begun.After(n.startedAt.Add(clockSlack)):
		return fmt.Sprintf("process %d was started at %s, not when the client was", n.pid, begun.UTC().Format(time.RFC3339))
	}
	args := disk.ProcessArgs(n.pid)
	named := func(p string) bool {
		return slices.ContainsFunc(args, func(a string) bool { return strings.Contains(strings.ToLower(a), p) })
	}
	if len(args) == 0 || slices.ContainsFunc(programs, named) {
		return ""
	}
	return fmt.Sprintf("process %d is %s", n.pid, filepath.Base(args[0]))
}
