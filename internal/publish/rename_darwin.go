package publish

import (
	"errors"

	"golang.org/x/sys/unix"
)

// renameNew renames tmp to path and fails with an error that is fs.ErrExist if that name is taken.
func renameNew(tmp, path string) error {
	err := unix.RenamexNp(tmp, path, unix.RENAME_EXCL)
	if errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EINVAL) {
		return link(tmp, path) // the file system does not support the flag
	}
	return err
}
