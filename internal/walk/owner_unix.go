//go:build unix

package walk

import (
	"io/fs"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// ownerOf says whether a file is this user's, and names its owner and this user; all is empty if that is not known.
func ownerOf(info fs.FileInfo) (mine bool, owner, me string) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return false, "", ""
	}
	return int(stat.Uid) == os.Geteuid(), nameOf(strconv.FormatUint(uint64(stat.Uid), 10)), nameOf(strconv.Itoa(os.Geteuid()))
}

// nameOf is a user's name, or the number if it has none.
func nameOf(id string) string {
	if u, err := user.LookupId(id); err == nil && u.Username != "" {
		return u.Username
	}
	return id
}
