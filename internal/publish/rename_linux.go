package publish

import (
	"errors"

	"golang.org/x/sys/unix"
)

// renameNew renames tmp to path and fails with an error that is fs.ErrExist if that name is taken.
func renameNew(tmp, path string) error {
	err := unix.Renameat2(unix.AT_FDCWD, tmp, unix.AT_FDCWD, path, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		return link(tmp, path) // the file system does not support the flag
	}
	return err
}
