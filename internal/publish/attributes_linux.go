package publish

import (
	"bytes"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// accessList is the extended attribute with a file's access list. If there is one, the group's bits of the mode are the most that
// any of its entries may do: without the list, they would be the group's own.
const accessList = "system.posix_acl_access"

// maxAttribute is how long, in bytes, an extended attribute, and the list of a file's attributes, can be.
const maxAttribute = 64 << 10

// takeAttributes gives a file the access list of another one, or none if that has none; with all, also the attributes that users and
// programs have set. It returns false if there is a list that could not be set.
func takeAttributes(f *os.File, from string, all bool) (ok bool) {
	ok = true
	buffer := make([]byte, maxAttribute)
	take := func(name string) bool {
		n, err := unix.Lgetxattr(from, name, buffer)
		return err != nil || unix.Fsetxattr(int(f.Fd()), name, buffer[:n], 0) == nil
	}
	if _, err := unix.Lgetxattr(from, accessList, nil); err == nil {
		ok = take(accessList)
	} else {
		_ = unix.Fremovexattr(int(f.Fd()), accessList) // the one that the directory gives to new files
	}
	if !all {
		return ok
	}
	n, err := unix.Llistxattr(from, buffer)
	if err != nil {
		return ok
	}
	for _, name := range bytes.Split(bytes.Clone(buffer[:n]), []byte{0}) {
		if strings.HasPrefix(string(name), "user.") {
			take(string(name)) // a file system that can't hold it loses it
		}
	}
	return ok
}
