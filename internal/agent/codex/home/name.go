package home

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/disk"
	"github.com/hist-cli/hist/internal/session"
)

// Default returns the absolute path of Codex's home: $CODEX_HOME, or .codex in the user's home directory. It does not
// look whether it exists.
func Default() (string, error) { return agent.DefaultHome("CODEX_HOME", ".codex") }

// Sessions returns those of the two session directories below home that exist, the live one first.
func Sessions(home string) []string {
	var roots []string
	for _, name := range []string{"sessions", "archived_sessions"} {
		dir := filepath.Join(home, name)
		if disk.IsDir(dir) {
			roots = append(roots, dir)
		}
	}
	return roots
}

// FileName is what the name of a rollout file says.
type FileName struct {
	Time       string // as written, local time: 2026-11-20T22-03-59
	ThreadID   string // lower case
	RolloutID  string // lower case; the thread id unless the thread was reverted
	Compressed bool   // ends in .zst
}

const (
	namePrefix = "rollout-"
	nameSuffix = ".jsonl"
	zstSuffix  = ".zst"
	nameTime   = "2006-01-02T15-04-05"
)

// ParseName reads a base name as Codex does: rollout-TIME-THREAD.jsonl or rollout-TIME-THREAD_ROLLOUT.jsonl, each with
// or without .zst. A file whose name does not parse is not a session to Codex's scanner.
func ParseName(base string) (FileName, bool) {
	var n FileName
	rest, zst := strings.CutSuffix(base, zstSuffix)
	n.Compressed = zst
	rest, prefixed := strings.CutPrefix(rest, namePrefix)
	rest, suffixed := strings.CutSuffix(rest, nameSuffix)
	if !prefixed || !suffixed || len(rest) < len(nameTime)+1 || rest[len(nameTime)] != '-' {
		return FileName{}, false
	}
	n.Time = rest[:len(nameTime)]
	if _, ok := session.ReadTime(nameTime, n.Time); !ok {
		return FileName{}, false
	}
	ids := rest[len(nameTime)+1:]
	thread, rollout, two := strings.Cut(ids, "_")
	if !IsID(thread) || two && !IsID(rollout) {
		return FileName{}, false
	}
	n.ThreadID = strings.ToLower(thread)
	if n.RolloutID = n.ThreadID; two {
		n.RolloutID = strings.ToLower(rollout)
	}
	return n, true
}

// Right is the name of a rollout whose time and id stand in a name that is none: programs that copy files add something behind them, or in
// front. It is "" if there is none. A client finds a file by its id if the name begins with these, but does not list it (measured with 0.79.0 to
// 0.171.0).
func Right(base string) string {
	const length = len(namePrefix) + len(nameTime) + 1 + 36
	plain := strings.TrimSuffix(base, zstSuffix)
	at := strings.Index(plain, namePrefix)
	if at < 0 || len(plain)-at < length || !strings.HasSuffix(plain, nameSuffix) {
		return ""
	}
	right := plain[at:at+length] + nameSuffix
	if _, ok := ParseName(right); !ok || right == plain {
		return ""
	}
	return right
}

// Doubles are the copies of a rollout that lie beside it under such names.
func Doubles(path, _ string) (paths []string) {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if Right(e.Name()) == strings.TrimSuffix(filepath.Base(path), zstSuffix) {
			paths = append(paths, filepath.Join(filepath.Dir(path), e.Name()))
		}
	}
	return paths
}

// Backups are copies of a rollout that lie beside it, as Doubles and under names that no client looks at.
func Backups(path string) []string {
	return slices.DeleteFunc(disk.Backups(path), func(one string) bool {
		_, another := ParseName(filepath.Base(one))
		return another
	})
}

// Name returns the canonical base name of a plain rollout of the thread id that begins at t. Codex writes local time:
// t's own zone is used, so pass time.Now(). An id that is not one gives "".
func Name(t time.Time, id string) string {
	if !IsID(id) {
		return ""
	}
	return namePrefix + t.Format(nameTime) + "-" + strings.ToLower(id) + nameSuffix
}

// IsID says whether s is a UUID in its usual form of 36 characters and nothing else. What passes is safe in a path.
func IsID(s string) bool { return len(s) == 36 && isIDPrefix(s) }

// isIDPrefix says whether s could be the beginning of a UUID.
func isIDPrefix(s string) bool {
	if len(s) > 36 {
		return false
	}
	for i := range len(s) {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if s[i] != '-' {
				return false
			}
		} else if !isHex(s[i]) {
			return false
		}
	}
	return true
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}
