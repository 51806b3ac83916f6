package disk

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// maxBackups is up to how many backups of a file are named.
const maxBackups = 8

// anID is an id as sessions have it in their names.
var anID = regexp.MustCompile(`[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}`)

// alike are the names in folders by what a backup's name has in common with that of its file: how it begins, or the ids in it.
var alike = Recall[map[string][]string]{Limit: 1 << 17}

// common is what a name has in common with other names.
func common(name string) []string {
	start, _, _ := strings.Cut(name, ".")
	return append(anID.FindAllString(name, -1), start)
}

// Backups are the files beside the one at a path whose names hold all of its name, as editors, scripts and synchronisers leave a copy:
// x.jsonl.bak, and of one with an id in its name Copy of x.jsonl, x (1).jsonl.
func Backups(path string) (list []string) {
	dir, base := filepath.Split(path)
	base = strings.TrimSuffix(base, ".zst")
	stem := strings.TrimSuffix(base, filepath.Ext(base))
	in := alike.Of(filepath.Clean(dir), func() (map[string][]string, int) {
		folder, err := os.Open(filepath.Clean(dir))
		if err != nil {
			return nil, 0
		}
		defer folder.Close()
		names, _ := folder.Readdirnames(-1) // there may be thousands, of which none has to be looked at
		in := make(map[string][]string, len(names))
		for _, name := range names {
			for _, part := range common(name) {
				in[part] = append(in[part], name)
			}
		}
		return in, len(names)
	})
	var names []string
	for _, part := range common(base) {
		names = append(names, in[part]...)
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		copied := strings.HasPrefix(name, base) || anID.MatchString(stem) && strings.Contains(name, stem)
		return !copied || name == stem || strings.TrimSuffix(name, ".zst") == base
	})
	slices.Sort(names)
	names = slices.Compact(names)
	for _, name := range names[:min(len(names), maxBackups)] {
		if info, err := os.Lstat(filepath.Join(dir, name)); err == nil && info.Mode().IsRegular() {
			list = append(list, filepath.Join(dir, name))
		}
	}
	return list
}
