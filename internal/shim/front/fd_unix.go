//go:build unix

package front

import "syscall"

// maxInherited is up to which number open descriptors are looked for.
const maxInherited = 256

// keepFromRelay marks what this process has inherited so that a relay does not inherit it, too: a caller may wait for the
// end of any pipe. The function that it returns takes the marks off, for the client is to have all of it.
func keepFromRelay() (giveBack func()) {
	var marked []uintptr
	for fd := uintptr(3); fd < maxInherited; fd++ {
		flags, _, err := syscall.Syscall(syscall.SYS_FCNTL, fd, syscall.F_GETFD, 0)
		if err != 0 || flags&syscall.FD_CLOEXEC != 0 {
			continue
		}
		syscall.CloseOnExec(int(fd))
		marked = append(marked, fd)
	}
	return func() {
		for _, fd := range marked {
			syscall.Syscall(syscall.SYS_FCNTL, fd, syscall.F_SETFD, 0) //nolint:errcheck // it was open a moment ago
		}
	}
}
