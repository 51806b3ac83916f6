package relay

import (
	"errors"

	"golang.org/x/sys/unix"
)

// awaitNoReader returns when nobody can read any more what is written to a pipe; if this process closes the pipe first, it
// never returns. It uses epoll, which unlike poll does not keep the pipe open while it waits.
func awaitNoReader(fd int) {
	wait, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return
	}
	defer unix.Close(wait) //nolint:errcheck // nothing was written
	if err := unix.EpollCtl(wait, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{}); err != nil {
		return // not a pipe: the end of the client's output must do
	}
	for {
		n, err := unix.EpollWait(wait, make([]unix.EpollEvent, 1), -1)
		if n > 0 || err != nil && !errors.Is(err, unix.EINTR) {
			return
		}
	}
}
