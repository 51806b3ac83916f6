package disk

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxBackups is up to how many backups of a file are named.
const maxBackups = 8

// Backups are the files beside the one at a path whose names begin with all of its name, as editors and scripts leave a copy: x.jsonl.bak.
func Backups(path string) (list []string) {
	dir, base := filepath.Split(path)
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
		more, is := strings.CutPrefix(name, base)
		return !is || more == "" || more == ".zst"
	})
	slices.Sort(names)
	for _, name := range names[:min(len(names), maxBackups)] {
		if info, err := os.Lstat(filepath.Join(dir, name)); err == nil && info.Mode().IsRegular() {
			list = append(list, filepath.Join(dir, name))
		}
	}
	return list
}
