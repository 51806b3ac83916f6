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

// idLength is how long a name must be for another one that holds it to be a copy's.
const idLength = 36

// anID is an id as sessions have it in their names.
var anID = regexp.MustCompile(`[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}`)

// folderNames are the names in a folder, also by the ids in them: a copy's name has all ids of the name that it is made of.
type folderNames struct {
	all  []string
	byID map[string][]string
}

var namesIn = Recall[folderNames]{Limit: 1 << 17}

// alike are the names in a folder among which the backups of a file are.
func alike(dir, base string) []string {
	in := namesIn.Of(dir, func() (names folderNames, size int) {
		folder, err := os.Open(dir)
		if err != nil {
			return folderNames{}, 0
		}
		defer folder.Close()
		names.all, _ = folder.Readdirnames(-1) // there may be thousands, of which none has to be looked at
		names.byID = map[string][]string{}
		for _, name := range names.all {
			for _, id := range anID.FindAllString(name, -1) {
				names.byID[id] = append(names.byID[id], name)
			}
		}
		return names, len(names.all)
	})
	if id := anID.FindString(base); id != "" {
		return in.byID[id]
	}
	return in.all
}

// Backups are the files beside the one at a path whose names hold all of its name, as editors, scripts and synchronisers leave a copy:
// x.jsonl.bak, Copy of x.jsonl, x (1).jsonl.
func Backups(path string) (list []string) {
	dir, base := filepath.Split(path)
	base = strings.TrimSuffix(base, ".zst")
	stem := strings.TrimSuffix(base, filepath.Ext(base))
	var names []string
	for _, name := range alike(filepath.Clean(dir), base) {
		copied := strings.HasPrefix(name, base) || len(stem) >= idLength && strings.Contains(name, stem)
		if copied && name != stem && strings.TrimSuffix(name, ".zst") != base {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names) // an id may stand in one twice
	for _, name := range names[:min(len(names), maxBackups)] {
		if info, err := os.Lstat(filepath.Join(dir, name)); err == nil && info.Mode().IsRegular() {
			list = append(list, filepath.Join(dir, name))
		}
	}
	return list
}
