package runs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hist-cli/hist/internal/failpoint"
)

// leaving begins the name of a record that is being removed: no run is called so.
const leaving = ".removing-"

// Remove removes the record of a run. First it gets a name that is no run's, so that what a crash leaves of it is none. What
// others have left so is removed, too. One that is gone already is no error.
func Remove(run string) error {
	root, err := Dir()
	if err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(root, run), filepath.Join(root, leaving+run)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	failpoint.At("leaving")
	return RemoveRest()
}

// RemoveRest removes what is left of records whose removal was cut off.
func RemoveRest() error {
	root, err := Dir()
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if run, ok := strings.CutPrefix(e.Name(), leaving); ok && idFormat.MatchString(run) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(root, e.Name())))
		}
	}
	return err
}
