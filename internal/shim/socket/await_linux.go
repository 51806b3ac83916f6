package socket

import (
	"errors"

	"golang.org/x/sys/unix"
)

// awaitEnd returns when a process has ended.
func awaitEnd(pid int) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		awaitParent(pid)
		return
	}
	defer unix.Close(fd) //nolint:errcheck // nothing was written
	for {
		p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		_, err := unix.Poll(p, -1)
		if err == nil && p[0].Revents != 0 {
			return
		}
		if err != nil && !errors.Is(err, unix.EINTR) {
			awaitParent(pid)
			return
		}
	}
}
