package front

import (
	"os"
	"syscall"
)

// replace makes f one of the standard streams of the program that this process becomes by exec.
func replace(f *os.File, fd int) error { return syscall.Dup3(int(f.Fd()), fd, 0) }

// pipeSize is how much a client can write before the relay must read it, in bytes: as much as the relay reads at once.
const pipeSize = 256 << 10

// enlargePipe gives a pipe a larger buffer, if the system allows: with fewer switches between client and relay, more bytes
// pass in a second.
func enlargePipe(f *os.File) {
	const setPipeSize = 1031                                                   // F_SETPIPE_SZ
	syscall.Syscall(syscall.SYS_FCNTL, f.Fd(), setPipeSize, uintptr(pipeSize)) //nolint:errcheck // it works without
}
