package front

import (
	"os"
	"syscall"
)

// replace puts f in the place of one of the standard streams, for the program that comes after exec.
func replace(f *os.File, fd int) error { return syscall.Dup3(int(f.Fd()), fd, 0) }

// wide is how much a client may say before the relay must be there to read it, in bytes: as much as it reads at once.
const wide = 256 << 10

// widen lets a pipe hold more, if the system will: the fewer turns the two take, the more they say in a second.
func widen(f *os.File) {
	const setPipeSize = 1031                                               // F_SETPIPE_SZ
	syscall.Syscall(syscall.SYS_FCNTL, f.Fd(), setPipeSize, uintptr(wide)) //nolint:errcheck // it works without
}
