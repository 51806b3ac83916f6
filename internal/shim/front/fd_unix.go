//go:build unix

package front

import "syscall"

// maxInherited bounds the numbers of the file descriptors that are examined.
const maxInherited = 256

// closeInheritedOnExec marks every descriptor that this process inherited as close-on-exec, so that a relay does not get
// it: a caller may be waiting for the end of any pipe, which comes only when nobody has it open. The function that it
// returns removes the marks again, for the client is to inherit them all.
func closeInheritedOnExec() (restore func()) {
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
			syscall.Syscall(syscall.SYS_FCNTL, fd, syscall.F_SETFD, 0) //nolint:errcheck // it was open when it was marked
		}
	}
}
