package claude

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// Inspect tells which sessions of a home the client may delete, and of which only the folder is there.
func (a Agent) Inspect(home string) (list []agent.Said) {
	paths, err := filepath.Glob(filepath.Join(escapeGlob(home), projects, "*", "*"+extension))
	if err != nil {
		return nil // there is no such pattern
	}
	for _, p := range paths {
		if words := a.Due(p); words != "" && IsID(strings.TrimSuffix(filepath.Base(p), extension)) {
			list = append(list, agent.Said{Path: p, Finding: finding.Finding{Rule: ruleRetention, Impact: finding.Notes, Pos: session.Pos{Line: 1}, Message: words}})
		}
	}
	return append(list, a.absent(home)...)
}

// absent lists the sessions of a home of which only the folder is there: sub-agents' conversations and outputs without the
// file that they belong to. Folders older than the client keeps sessions are what its own deleting leaves.
func (a Agent) absent(home string) (list []agent.Said) {
	dirs, err := filepath.Glob(filepath.Join(escapeGlob(home), projects, "*", "*-*-*-*-*"))
	if err != nil {
		return nil // there is no such pattern
	}
	for _, dir := range dirs {
		id := filepath.Base(dir)
		if !IsID(id) || exists(dir+extension) {
			continue
		}
		parts, outputs, newest := remains(dir)
		if parts+outputs == 0 || tooOld(home, newest) {
			continue
		}
		if busy, _ := a.InUse(dir, home, id); busy != nil {
			continue // some versions write the session when it ends
		}
		list = append(list, agent.Said{Path: dir + extension, Finding: finding.Finding{
			Rule: ruleNeverWritten, Impact: finding.Blocks, Pos: session.Pos{Line: 1},
			Message: fmt.Sprintf("the session file is missing, but its folder is there (sub-agent conversations: %d, outputs: %d): the client never wrote the file, or has deleted it; prompts may be left in history.jsonl", parts, outputs),
		}})
	}
	slices.SortFunc(list, func(a, b agent.Said) int { return cmp.Compare(a.Path, b.Path) })
	return list
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// warmUp is what some versions ask a sub-agent at every start, before anybody has asked them anything.
var warmUp = []byte(`"content":"Warmup"`)

// remains counts what lies in a session's folder that was made by its turns, and says when the newest of it was written.
func remains(dir string) (parts, outputs int, newest time.Time) {
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
			case !strings.HasSuffix(e.Name(), extension) || findLine(path, warmUp, func([]byte) bool { return true }) != nil:
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

// retention is for how many days the client of a home keeps sessions; 0 if its settings can't be read or make no sense.
func retention(home string) int64 {
	raw, err := readSmall(filepath.Join(home, "settings.json"))
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

// tooOld says whether the client of a home deletes what was last written then.
func tooOld(home string, written time.Time) bool {
	days := retention(home)
	return days > 0 && time.Since(written) > time.Duration(min(days, 36500))*24*time.Hour
}

// Due says that the client may delete a session that lies in a home, by its file's time and the home's settings.
func (Agent) Due(path string) string {
	above := filepath.Dir(filepath.Dir(path))
	info, err := os.Stat(path)
	if err != nil || filepath.Base(above) != projects {
		return ""
	}
	home := filepath.Dir(above)
	if !tooOld(home, info.ModTime()) {
		return ""
	}
	return fmt.Sprintf("the session was last written %d days ago: its client deletes those older than %d", int64(time.Since(info.ModTime()).Hours()/24), retention(home))
}
