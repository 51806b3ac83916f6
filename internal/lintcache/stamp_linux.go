package lintcache

import (
	"io/fs"
	"syscall"
)

func stampOf(info fs.FileInfo) (stamp, bool) {
	if info == nil {
		return stamp{}, false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return stamp{}, false
	}
	return stamp{uint64(st.Dev), st.Ino, st.Size, info.ModTime().UnixNano(), st.Ctim.Nano()}, true
}
