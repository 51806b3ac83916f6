package disk

import (
	"fmt"
	"os"
	"path/filepath"
)

// StateDir returns hist's directory for its runs and its log of decisions, whether or not it exists: hist in $XDG_STATE_HOME, by
// default ~/.local/state.
func StateDir() (string, error) { return ownDir("XDG_STATE_HOME", ".local/state") }

// CacheDir is the one for its caches: hist in $XDG_CACHE_HOME, by default ~/.cache.
func CacheDir() (string, error) { return ownDir("XDG_CACHE_HOME", ".cache") }

// ConfigDir is the one for its config: hist in $XDG_CONFIG_HOME, by default ~/.config.
func ConfigDir() (string, error) { return ownDir("XDG_CONFIG_HOME", ".config") }

// ownDir is hist's directory in the one that a variable names, or else in one below the user's home. A relative path is ignored, as the
// XDG specification demands. It is an error if neither is known.
func ownDir(variable, below string) (string, error) {
	if dir := os.Getenv(variable); filepath.IsAbs(dir) {
		return filepath.Join(dir, "hist"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("finding a place for what hist keeps (set %s): %w", variable, err)
	}
	return filepath.Join(home, below, "hist"), nil
}
