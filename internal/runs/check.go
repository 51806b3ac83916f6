package runs

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
)

// ErrDamaged: the record of a run is not what hist has written. Nothing is done by such a record.
var ErrDamaged = errors.New("the record of the run is damaged, so that nothing can be undone by it")

var hashFormat = regexp.MustCompile(`^[0-9a-f]{64}$`)

// check says what is wrong with a file's entry: whatever a repair would never have written. An undo acts on an entry as
// a whole, so that one wrong field makes all of it worthless.
func (f *File) check() error {
	for _, path := range []string{f.Source, f.Target} {
		if !filepath.IsAbs(path) || filepath.Clean(path) != path || strings.ContainsRune(path, 0) {
			return fmt.Errorf("%q is no absolute path", path)
		}
	}
	for _, name := range []string{f.Backup, f.SetAside, f.Rows} {
		if name != "" && !plainName(name) {
			return fmt.Errorf("%q is not a name within the run", name)
		}
	}
	if !hashFormat.MatchString(f.SHA256Before) || !hashFormat.MatchString(f.SHA256After) || (f.Rows != "") != hashFormat.MatchString(f.RowsSHA256) {
		return fmt.Errorf("%s: it has no proper hash", f.Target)
	}
	if f.SizeBefore < 0 || f.SizeAfter < 0 || f.DiffersFrom < 0 || f.Perm&^0o777 != 0 {
		return fmt.Errorf("%s: a size, an offset or the mode can't be right", f.Target)
	}
	if f.Home != "" && !filepath.IsAbs(f.Home) {
		return fmt.Errorf("%q is no absolute path", f.Home)
	}
	return f.checkMode()
}

// checkMode says what does not go together with the way in which a file reached the disk.
func (f *File) checkMode() error {
	ok := false
	switch f.Mode {
	case InPlace:
		// The plain form of a compressed session may stand beside it.
		ok = (f.Source == f.Target || f.Source == f.Target+".zst") && f.isBackup(f.Backup)
	case NewThread, Output:
		ok = f.Source != f.Target && f.Backup == "" && f.Rows == ""
	case View:
		ok = f.Source == f.Target && f.Backup == "" && f.Rows != "" && f.SHA256Before == f.SHA256After && f.SizeBefore == f.SizeAfter
	default:
		return fmt.Errorf("%s: %q is no way in which hist writes a file", f.Target, f.Mode)
	}
	if !ok {
		return fmt.Errorf("%s: its paths and its backup don't go with the mode %q", f.Target, f.Mode)
	}
	return nil
}

// isBackup says whether a name in the run is one that Backup gives to this file's original.
func (f *File) isBackup(name string) bool {
	number, of, ok := strings.Cut(strings.TrimPrefix(name, "original-"), "-")
	return ok && strings.HasPrefix(name, "original-") && number != "" && strings.Trim(number, "0123456789") == "" && of == tame(filepath.Base(f.Source))
}

// same says whether two entries are about one file: only how far its repair or undo has come may differ.
func (f *File) same(other *File) bool {
	a, b := *f, *other
	a.Published, a.Undone = b.Published, b.Undone
	if !a.ModTimeBefore.Equal(b.ModTimeBefore) {
		return false
	}
	a.ModTimeBefore = b.ModTimeBefore
	return a == b
}
