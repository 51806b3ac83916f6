package codex

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/agent/codex/home"
	"github.com/hist-cli/hist/internal/inuse"
	"github.com/hist-cli/hist/internal/session"
)

// DefaultHome is $CODEX_HOME or ~/.codex.
func (Agent) DefaultHome() (string, error) { return home.Default() }

// Sessions are sessions and archived_sessions.
func (Agent) Sessions(dir string) []string { return home.Sessions(dir) }

// LiveAt is sessions.
func (Agent) LiveAt(dir string) string { return filepath.Join(dir, "sessions") }

// Live is sessions.
func (a Agent) Live(dir string) string {
	live := a.LiveAt(dir)
	if _, err := os.Stat(live); err != nil {
		return ""
	}
	return live
}

// Archived says whether a directory, by its real path, lies in a home's archived_sessions.
func (Agent) Archived(dir, of string) bool {
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

// NewDir is sessions/YEAR/MONTH/DAY.
func (Agent) NewDir(dir string, now time.Time) string {
	return filepath.Join(dir, "sessions", now.Format("2006"), now.Format("01"), now.Format("02"))
}

// Folder is "sessions/".
func (Agent) Folder() string { return "sessions/" }

// Lists is home.Lists.
func (Agent) Lists(dir string) []string { return home.Lists(dir) }

// HomeAbove is what holds the sessions or archived_sessions that a path lies in.
func (Agent) HomeAbove(path string) string {
	for dir := filepath.Dir(path); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		base := filepath.Base(dir)
		if base == "sessions" || base == "archived_sessions" {
			return filepath.Dir(dir)
		}
	}
	return ""
}

// Find is home.Find.
func (Agent) Find(ctx context.Context, dir, id string) ([]string, error) {
	return home.Find(ctx, dir, id)
}

// Named is home.Named.
func (Agent) Named(dir, name string) ([]string, error) { return home.Named(dir, name) }

// InUse is home.InUse.
func (Agent) InUse(path, dir, thread string) (*inuse.Busy, error) {
	return home.InUse(path, dir, thread)
}

// Asking is home.Asking.
func (Agent) Asking(thread string) bool { return home.Asking(thread) }

// Lock is home.Lock.
func (Agent) Lock(dir, thread string) (release func(), err error) { return home.Lock(dir, thread) }

// Databases is the one of which a home's sessions may be recovered.
func (Agent) Databases(dir string) []agent.Database {
	if dir == "" {
		return nil
	}
	return []agent.Database{home.History(dir)}
}

// Twins is home.Twins.
func (Agent) Twins(dir, base string) []string { return home.Twins(dir, base) }

// OfSubagent says whether a session is one that another one began.
func (Agent) OfSubagent(about session.Info) bool { return OfSubagent(about) }

// interactive are the sources of sessions that `codex resume` offers; a header without one counts as vscode's.
var interactive = []string{"", "cli", "vscode", "atlas", "chatgpt"}

// Interactive says whether `codex resume` offers a session. Those of `codex exec` and of `codex mcp-server` are not.
func (Agent) Interactive(about session.Info) bool { return slices.Contains(interactive, about.Source) }

// TakesAny says whether the arguments are those of `codex exec`, or of a picker that was asked for all.
func (Agent) TakesAny(args []string) bool {
	return slices.Contains(args, "--include-non-interactive") || slices.Contains(args, "exec") || slices.Contains(args, "e")
}

// subcommands are those with which a client keeps a thread open.
var subcommands = []string{"app-server", "exec", "fork", "mcp-server", "resume"}

// Subcommand says whether an argument of the client is one of them.
func (Agent) Subcommand(arg string) bool { return slices.Contains(subcommands, arg) }
