package home

import (
	"bytes"
	"cmp"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/finding"
	shell "github.com/hist-cli/hist/internal/format"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// inspect lists the sessions of a home that the client may delete, and those of which only the folder is left.
func inspect(home string) (list []agent.Said) {
	days := Retention(home)
	var folders []string
	for path := range inProjects(home) {
		id, isFile := strings.CutSuffix(filepath.Base(path), format.Extension)
		switch {
		case !format.IsID(id):
		case !isFile:
			folders = append(folders, path)
		case days > 0:
			if words := due(path, days); words != "" {
				list = append(list, agent.Said{Path: path, Finding: finding.Finding{Rule: faults.Retention, Impact: finding.Notes, Pos: session.Pos{Line: 1}, Message: words}})
			}
		}
	}
	return append(list, absent(home, folders, days)...)
}

// inProjects yields the paths of everything in a home's project folders, folder by folder, each sorted by name.
func inProjects(home string) iter.Seq[string] {
	return func(yield func(string) bool) {
		dirs, _ := os.ReadDir(filepath.Join(home, projects)) // an unreadable folder is reported where sessions are looked for
		for _, d := range dirs {
			dir := filepath.Join(home, projects, d.Name())
			entries, _ := os.ReadDir(dir)
			for _, e := range entries {
				if !yield(dir + string(filepath.Separator) + e.Name()) {
					return
				}
			}
		}
	}
}

// absent lists the sessions of a home of which only the folder is left: sub-agents' conversations and outputs, but not the file
// that they belong to. A folder older than the client keeps sessions is no finding: the client itself deleted that session.
func absent(home string, folders []string, days int64) (list []agent.Said) {
	for _, dir := range folders {
		id := filepath.Base(dir)
		if Exists(dir + format.Extension) {
			continue
		}
		parts, outputs, newest := Remains(dir)
		if parts+outputs == 0 || TooOld(newest, days) {
			continue
		}
		if busy, _ := inUse(dir, home, id); busy != nil {
			continue // some versions write the session when it ends
		}
		list = append(list, agent.Said{Path: dir + format.Extension, Finding: finding.Finding{
			Rule: faults.NeverWritten, Impact: finding.Blocks, Pos: session.Pos{Line: 1},
			Message: onlyFolder(dir, parts, outputs),
		}})
	}
	slices.SortFunc(list, func(a, b agent.Said) int { return cmp.Compare(a.Path, b.Path) })
	return list
}

// onlyFolder says that of a session only its folder is left, and what is in it.
func onlyFolder(dir string, parts, outputs int) string {
	return fmt.Sprintf("the session file is missing, but its folder %s is there (sub-agent conversations: %d, outputs: %d): the client never wrote the file, or has deleted it; prompts may be left in history.jsonl", filepath.Base(dir), parts, outputs)
}

// Astray says that the client does not find the session of a directory in the file at a path, by links resolved, because it lies in a
// home's folder of projects but in the folder of none, and how it gets there; "" if the client looks there. elsewhere is the file of the
// session that the client finds instead.
func Astray(home, path, cwd string) (says, elsewhere string) {
	parts := above(home, path)
	if parts == nil {
		return "", ""
	}
	says = "the client finds no session here: it looks only at what lies directly in a folder of " + projects + "/"
	if found := named(home, idOf(path), format.Extension, "*"); len(found) > 0 {
		return says, found[0]
	}
	to := strayed(home, path, cwd)
	if to == "" {
		return says + "; move it into the folder there of the directory that it belongs to", ""
	}
	move := []string{"mv", "-n", path}
	if dir := strings.TrimSuffix(path, format.Extension); Exists(dir) {
		move = append(move, dir)
	}
	says += "; this moves it: "
	if !Exists(to) {
		says += shell.Command("mkdir", "-p", to) + " && "
	}
	return says + shell.Command(append(move, to+string(filepath.Separator))...), ""
}

// above are the names of the path of a session's file below the folder of projects; nil if the client looks there.
func above(home, path string) []string {
	root, err := filepath.EvalSymlinks(liveAt(home))
	if err != nil || !format.IsID(idOf(path)) {
		return nil
	}
	below, err := filepath.Rel(root, path)
	parts := strings.Split(below, string(filepath.Separator))
	if err != nil || parts[0] == ".." || len(parts) == 2 {
		return nil
	}
	for _, p := range named(home, idOf(path), format.Extension, "*") {
		if real, _ := filepath.EvalSymlinks(p); real == path {
			return nil
		}
	}
	return parts
}

// strayed is the folder in which the client finds the session of a directory, if it does not look where the file at a path lies: it takes
// the id in the folder of any project.
func strayed(home, path, cwd string) string {
	parts := above(home, path)
	if parts == nil {
		return ""
	}
	if dir, err := FolderFor(home, cwd); err == nil && cwd != "" && (Exists(dir) || len(parts) == 1) {
		return dir
	}
	if len(parts) == 1 {
		return ""
	}
	return filepath.Clean(strings.TrimSuffix(path, filepath.Join(parts[1:]...)))
}

// Exists says whether there is a file at the path.
func Exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// warmUp is the prompt with which some versions start a sub-agent before any user has prompted.
var warmUp = []byte(`"content":"Warmup"`)

// Remains counts the files in a session's folder that its turns made, and returns when the newest of them was written.
func Remains(dir string) (parts, outputs int, newest time.Time) {
	for _, in := range []string{"subagents", "tool-results"} {
		entries, err := os.ReadDir(filepath.Join(dir, in))
		if err != nil {
			continue
		}
		for _, e := range entries {
			info, err := e.Info()
			path := filepath.Join(dir, in, e.Name())
			switch {
			case err != nil || !info.Mode().IsRegular():
				continue
			case in == "tool-results":
				outputs++
			case !strings.HasSuffix(e.Name(), format.Extension) || findLine(path, warmUp, func([]byte) bool { return true }) != nil:
				continue
			default:
				parts++
			}
			if info.ModTime().After(newest) {
				newest = info.ModTime()
			}
		}
	}
	return parts, outputs, newest
}

// keptDays is how many days the client keeps a session that is not written to, if its settings do not say otherwise.
const keptDays = 30

// Retention is for how many days the client of a home keeps sessions; 0 if its settings can't be read or make no sense.
func Retention(home string) int64 {
	raw, err := ReadSmall(filepath.Join(home, "settings.json"))
	if os.IsNotExist(err) {
		return keptDays
	}
	if err != nil || !jsonl.Valid(bytes.TrimPrefix(raw, []byte("\ufeff"))) {
		return 0
	}
	days := gjson.GetBytes(raw, "cleanupPeriodDays")
	switch {
	case !days.Exists():
		return keptDays
	case days.Type != gjson.Number || days.Int() <= 0:
		return 0
	}
	return days.Int()
}

// TooOld says whether a client that keeps sessions for that many days deletes one that was last written at a given time.
func TooOld(written time.Time, days int64) bool {
	return days > 0 && time.Since(written) > time.Duration(min(days, 36500))*24*time.Hour
}

// mayGo warns that the client may delete a session, judged by its file's time and the home's settings; "" if it won't.
func mayGo(path string) string {
	above := filepath.Dir(filepath.Dir(path))
	if filepath.Base(above) != projects {
		return ""
	}
	return due(path, Retention(filepath.Dir(above)))
}

// due is Due in a home whose client keeps sessions for that many days.
func due(path string, days int64) string {
	info, err := os.Stat(path)
	if err != nil || !TooOld(info.ModTime(), days) {
		return ""
	}
	return fmt.Sprintf("the session was last written %d days ago: its client deletes those older than %d", int64(time.Since(info.ModTime()).Hours()/24), days)
}
