package work

import (
	"os"
	"path/filepath"
	"time"
)

// abandonedAge is the age from which a temporary folder counts as abandoned: each is used for one object only.
const abandonedAge = 24 * time.Hour

// Tidy removes the temporary folders that killed repairs and undos have left behind, because they hold sessions. Folders that
// can't be removed are left.
func Tidy(now time.Time) {
	for _, kind := range []string{repairDir, undoDir} {
		dirs, _ := filepath.Glob(filepath.Join(os.TempDir(), kind)) // its only error is a bad pattern
		for _, dir := range dirs {
			if info, err := os.Lstat(dir); err == nil && info.IsDir() && now.Sub(info.ModTime()) > abandonedAge {
				os.RemoveAll(dir) //nolint:errcheck // it belongs to another user
			}
		}
	}
}

// Patterns for os.MkdirTemp of the folders that are used for one object.
const (
	repairDir = ".hist-fleet-repair-*"
	undoDir   = ".hist-fleet-undo-*"
)
