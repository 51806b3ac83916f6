package disk

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxBackups is up to how many backups of a file are named.
const maxBackups = 8

// idLength is how long a name must be for another one that holds it to be a copy's.
const idLength = 36

// Backups are the files beside the one at a path whose names hold all of its name, as editors, scripts and synchronisers leave a copy:
// x.jsonl.bak, Copy of x.jsonl, x (1).jsonl.
func Backups(path string) (list []string) {
	dir, base := filepath.Split(path)
	base = strings.TrimSuffix(base, ".zst")
	stem := strings.TrimSuffix(base, filepath.Ext(base))
	folder, err := os.Open(filepath.Clean(dir))
	if err != nil {
		return nil
	}
	defer folder.Close()
	names, err := folder.Readdirnames(-1) // there may be thousands, of which none has to be looked at
	if err != nil {
		return nil
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		copied := strings.HasPrefix(name, base) || len(stem) >= idLength && strings.Contains(name, stem)
		return !copied || name == stem || strings.TrimSuffix(name, ".zst") == base
	})
	slices.Sort(names)
	for _, name := range names[:min(len(names), maxBackups)] {
		if info, err := os.Lstat(filepath.Join(dir, name)); err == nil && info.Mode().IsRegular() {
			list = append(list, filepath.Join(dir, name))
		}
	}
	return list
}
