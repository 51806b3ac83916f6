package timeline

import (
	"os"
	"path/filepath"
	"strings"
)

// settle says in which directory the client resumes a session whose file it finds by the folder in which it lies: after a move, its
// records name the directory from which it came. A directory is found by its name; if none has that name, nothing is changed.
func (s *Glance) settle() {
	h := s.Agent.Home
	if h == nil || h.FolderFor == nil || s.CWD == "" {
		return
	}
	home := h.HomeAbove(s.Path)
	if home == "" {
		return
	}
	folder := filepath.Dir(s.Path)
	if root, err := h.FolderFor(home, string(filepath.Separator)); err != nil || filepath.Dir(root) != filepath.Dir(folder) {
		return // it is a part of a session, or archived
	}
	is := func(dir string) bool {
		found, err := h.FolderFor(home, dir)
		return err == nil && found == folder
	}
	switch {
	case is(s.CWD):
	case is(s.Header.CWD):
		if _, err := os.Stat(s.CWD); err != nil {
			s.CWD = s.Header.CWD
		}
	default:
		leads := func(dir string) bool {
			found, err := h.FolderFor(home, dir)
			return err == nil && strings.HasPrefix(folder, strings.TrimRight(found, "-"))
		}
		if dir := below(string(filepath.Separator), is, leads); dir != "" {
			s.CWD = dir
		}
	}
}

// below is the first directory in one, or deeper, that is the wanted one; leads says whether it may lie in a directory.
func below(dir string, is, leads func(dir string) bool) string {
	entries, _ := os.ReadDir(dir) // what can't be read is not found
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if !leads(path) {
			continue
		}
		if info, err := os.Stat(path); err != nil || !info.IsDir() {
			continue
		}
		if is(path) {
			return path
		}
		if found := below(path, is, leads); found != "" {
			return found
		}
	}
	return ""
}
