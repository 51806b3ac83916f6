package runs

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
)

// ErrDamaged says that the record of a run is not what hist wrote. Such a record is never acted on.
var ErrDamaged = errors.New("the record of the run is damaged, so that nothing can be undone by it")

var hashFormat = regexp.MustCompile(`^[0-9a-f]{64}$`)

// check returns an error if a file's entry holds anything that a repair would never have written. An undo acts on the whole
// entry, so a single wrong field makes it useless.
func (f *File) check() error {
	for _, path := range []string{f.Source, f.Target} {
		if !filepath.IsAbs(path) || filepath.Clean(path) != path || strings.ContainsRune(path, 0) {
			return fmt.Errorf("%q is not an absolute path", path)
		}
	}
	for _, name := range []string{f.Backup, f.SetAside, f.Rows, f.Log, f.Shared} {
		if name != "" && !plainName(name) {
			return fmt.Errorf("%q is not the name of a file in the run", name)
		}
	}
	if !hashFormat.MatchString(f.SHA256Before) || !hashFormat.MatchString(f.SHA256After) || (f.Rows != "") != hashFormat.MatchString(f.RowsSHA256) {
		return fmt.Errorf("%s: a hash is missing or malformed", f.Target)
	}
	if (f.Log != "") != hashFormat.MatchString(f.LogSHA256) || (f.Shared != "") != hashFormat.MatchString(f.SharedSHA256) || f.Mode != Moved && f.Log+f.Shared != "" {
		return fmt.Errorf("%s: what is kept beside a database does not go with its hashes or its mode", f.Target)
	}
	if f.SizeBefore < 0 || f.SizeAfter < 0 || f.DiffersFrom < 0 || f.Perm&^0o777 != 0 {
		return fmt.Errorf("%s: a size, an offset or the mode is out of range", f.Target)
	}
	if f.Home != "" && !filepath.IsAbs(f.Home) {
		return fmt.Errorf("%q is not an absolute path", f.Home)
	}
	return f.checkMode()
}

// checkMode checks that paths and backup fit the way in which the file reached the disk.
func (f *File) checkMode() error {
	ok := false
	switch f.Mode {
	case InPlace:
		// The plain form of a compressed session may stand beside it.
		ok = (f.Source == f.Target || f.Source == f.Target+".zst") && f.isBackup(f.Backup)
	case NewThread, Output:
		ok = f.Source != f.Target && f.Backup == "" && f.Rows == ""
	case Moved:
		ok = f.Source == f.Target && f.isBackup(f.Backup) && f.Rows == "" && f.SizeAfter == 0
	case View:
		ok = f.Source == f.Target && f.Backup == "" && f.Rows != "" && f.SHA256Before == f.SHA256After && f.SizeBefore == f.SizeAfter
	default:
		return fmt.Errorf("%s: there is no mode %q", f.Target, f.Mode)
	}
	if !ok {
		return fmt.Errorf("%s: its paths and its backup don't go with the mode %q", f.Target, f.Mode)
	}
	return nil
}

// isBackup says whether a name is one that Backup gives to the copy of this file's original.
func (f *File) isBackup(name string) bool {
	number, of, ok := strings.Cut(strings.TrimPrefix(name, "original-"), "-")
	return ok && strings.HasPrefix(name, "original-") && number != "" && strings.Trim(number, "0123456789") == "" && of == safeName(filepath.Base(f.Source))
}

// same says whether two entries are about the same file. They may differ only in Published and Undone.
func (f *File) same(other *File) bool {
	a, b := *f, *other
	a.Published, a.Undone = b.Published, b.Undone
	if !a.ModTimeBefore.Equal(b.ModTimeBefore) {
		return false
	}
	a.ModTimeBefore = b.ModTimeBefore
	return a == b
}
