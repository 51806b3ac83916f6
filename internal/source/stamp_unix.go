//go:build linux || darwin

package source

import (
	"io/fs"
	"syscall"
)

// StampOf returns the stamp of a file; false if info is not the system's.
func StampOf(info fs.FileInfo) (Stamp, bool) {
	if info == nil {
		return Stamp{}, false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return Stamp{}, false
	}
	return Stamp{uint64(st.Dev), st.Ino, st.Size, info.ModTime().UnixNano(), changeTime(st)}, true
}
