// Package statedir says where hist keeps its state: its runs, its log of decisions. In: the environment. Out: a path. Never
// here: what is in that directory.
package statedir

import (
	"os"
	"path/filepath"
)

// Path returns hist's directory, whether or not it exists: hist in $XDG_STATE_HOME, by default ~/.local/state. A relative
// $XDG_STATE_HOME is ignored, as the XDG specification demands. It is an error if neither that nor a home is known.
func Path() (string, error) {
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
