package codex

import (
	"context"
	"os"
	"path/filepath"

	"github.com/hist-cli/hist/internal/agent/codex/home"
	"github.com/hist-cli/hist/internal/inuse"
)

// DefaultHome is $CODEX_HOME or ~/.codex.
func (Agent) DefaultHome() (string, error) { return home.Default() }

// Sessions are sessions and archived_sessions.
func (Agent) Sessions(dir string) []string { return home.Sessions(dir) }

// Live is sessions.
func (Agent) Live(dir string) string {
	live := filepath.Join(dir, "sessions")
	if _, err := os.Stat(live); err != nil {
		return ""
	}
	return live
}

// Folder is "sessions/".
func (Agent) Folder() string { return "sessions/" }

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
