//go:build unix

package publish

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

const errQuota = syscall.EDQUOT

// GiveTo gives the file to the user and group of owner; it returns false if the group could not be set. Only root can give
// files to other users, so that failing to set the user is no error.
func GiveTo(f *os.File, owner fs.FileInfo) bool {
	st, ok := owner.Sys().(*syscall.Stat_t)
	if !ok {
		return true
	}
	if f.Chown(int(st.Uid), int(st.Gid)) == nil {
		return true
	}
	if f.Chown(-1, int(st.Gid)) == nil {
		return true
	}
	info, err := f.Stat()
	if err != nil {
		return false
	}
	mine, ok := info.Sys().(*syscall.Stat_t)
	return ok && mine.Gid == st.Gid
}

// Foreign says whether a file belongs to another user, so that a file that replaces it would belong to us instead.
func Foreign(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	me := os.Geteuid()
	return ok && me != 0 && int(st.Uid) != me
}

// Names returns how many names (hard links) a file has; a file that replaces it takes over only one of them.
func Names(info fs.FileInfo) int {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Nlink)
	}
	return 1
}

// SyncDir makes the names in a directory durable. File systems that cannot sync a directory are not an error.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	err = Sync(d)
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) || errors.Is(err, syscall.EBADF) {
		return nil
	}
	return err
}

// link gives the file tmp the name path, unless that is taken, and then removes the name tmp.
func link(tmp, path string) error {
	if err := os.Link(tmp, path); err != nil {
		return err
	}
	Step("linked")
	// The file is published already: if this fails, Sweep removes the temporary name later.
	_ = os.Remove(tmp)
	return nil
}
