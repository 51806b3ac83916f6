package codex

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/agent/codex/home"
	"github.com/hist-cli/hist/internal/session"
)

// liveAt is sessions.
func liveAt(dir string) string { return filepath.Join(dir, "sessions") }

// live is sessions.
func live(dir string) string {
	live := liveAt(dir)
	if _, err := os.Stat(live); err != nil {
		return ""
	}
	return live
}

// archived says whether a directory, by its real path, lies in a home's archived_sessions.
func archived(dir, of string) bool {
	if dir == "" {
		return strings.Contains(filepath.ToSlash(of)+"/", "/archived_sessions/")
	}
	archive, err := filepath.EvalSymlinks(filepath.Join(dir, "archived_sessions"))
	if err != nil {
		return false
	}
	rel, err := filepath.Rel(archive, of)
	return err == nil && filepath.IsLocal(rel)
}

// newDir is sessions/YEAR/MONTH/DAY.
func newDir(dir string, now time.Time) string {
	return filepath.Join(dir, "sessions", now.Format("2006"), now.Format("01"), now.Format("02"))
}

// HomeAbove is what holds the sessions or archived_sessions that a path lies in.
func HomeAbove(path string) string {
	for dir := filepath.Dir(path); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		base := filepath.Base(dir)
		if base == "sessions" || base == "archived_sessions" {
			return filepath.Dir(dir)
		}
	}
	return ""
}

// databases is the one of which a home's sessions may be recovered.
func databases(dir string) []agent.Database {
	if dir == "" {
		return nil
	}
	return []agent.Database{home.History(dir)}
}

// interactive are the sources of sessions that `codex resume` offers; a header without one counts as vscode's.
var interactive = []string{"", "cli", "vscode", "atlas", "chatgpt"}

// isInteractive says whether `codex resume` offers a session. Those of `codex exec` and of `codex mcp-server` are not.
func isInteractive(about session.Info) bool { return slices.Contains(interactive, about.Source) }

// takesAny says whether the arguments are those of `codex exec`, or of a picker that was asked for all.
func takesAny(args []string) bool {
	return slices.Contains(args, "--include-non-interactive") || executes(args)
}

// apart says whether the arguments are those of a client that does not go on in the daemon of 0.171.0: `codex exec` is refused while
// the daemon has the thread open, and a terminal with --no-daemon only shows the thread until then (measured).
func apart(args []string) bool { return slices.Contains(args, "--no-daemon") || executes(args) }

func executes(args []string) bool { return slices.Contains(args, "exec") || slices.Contains(args, "e") }

// subcommands are those with which a client keeps a thread open.
var subcommands = []string{"app-server", "exec", "fork", "mcp-server", "resume"}

// subcommand says whether an argument of the client is one of them.
func subcommand(arg string) bool { return slices.Contains(subcommands, arg) }
