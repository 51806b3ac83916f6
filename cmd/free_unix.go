//go:build unix

package cmd

import "golang.org/x/sys/unix"

// freeBytes is how many bytes a user may still write on the disk of a directory; ok is false if that can't be told.
func freeBytes(dir string) (free int64, ok bool) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, false
	}
	return int64(s.Bavail) * int64(s.Bsize), true //nolint:unconvert // their types differ between systems
}
