package disk

import (
	"os"
	"path/filepath"
)

// StateDir returns hist's directory for its runs and its log of decisions, whether or not it exists: hist in $XDG_STATE_HOME, by default ~/.local/state. A relative
// $XDG_STATE_HOME is ignored, as the XDG specification demands. It is an error if neither that nor a home is known.
func StateDir() (string, error) {
	dir := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(dir) {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(dir, "hist"), nil
}
