package work

import (
	"os"
	"path/filepath"
	"time"
)

// leftFor is how old a folder must be to be one that nobody uses any more: each is in use for one object.
const leftFor = 24 * time.Hour

// Tidy removes what repairs and undos that were killed have left in the folder for temporary files: sessions, for which it is
// no place. What can't be removed is left.
func Tidy(now time.Time) {
	for _, kind := range []string{repairDir, undoDir} {
		dirs, _ := filepath.Glob(filepath.Join(os.TempDir(), kind)) // its only error is a bad pattern
		for _, dir := range dirs {
			if info, err := os.Lstat(dir); err == nil && info.IsDir() && now.Sub(info.ModTime()) > leftFor {
				os.RemoveAll(dir) //nolint:errcheck // another user's
			}
		}
	}
}

// Patterns of the folders for one object, as os.MkdirTemp takes them.
const (
	repairDir = ".hist-fleet-repair-*"
	undoDir   = ".hist-fleet-undo-*"
)
