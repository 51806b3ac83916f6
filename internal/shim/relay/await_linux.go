package relay

import (
	"errors"

	"golang.org/x/sys/unix"
)

// awaitReader returns when nobody can read any more what is written to a pipe; never, if the pipe is closed here first.
// It asks by epoll, which unlike poll does not keep the pipe open while it waits.
func awaitReader(fd int) {
	wait, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return
	}
	defer unix.Close(wait) //nolint:errcheck // nothing was written
	if err := unix.EpollCtl(wait, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{}); err != nil {
		return // of another kind than a pipe: the end of the client's output has to do
	}
	for {
		n, err := unix.EpollWait(wait, make([]unix.EpollEvent, 1), -1)
		if n > 0 || err != nil && !errors.Is(err, unix.EINTR) {
			return
		}
	}
}
