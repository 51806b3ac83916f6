// Package statedir says where hist keeps what it remembers: its runs, its log of decisions. In: the environment. Out: a
// path. Never here: what lies there.
package statedir

import (
	"os"
	"path/filepath"
)

// Path returns hist's directory, whether or not it exists: hist in $XDG_STATE_HOME, by default ~/.local/state. As the XDG
// rules want it, a relative $XDG_STATE_HOME is passed over. It is an error if neither that nor a home is known.
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
