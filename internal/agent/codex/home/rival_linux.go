package home

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// How often, and with what pause, the name is tried while its holder does not answer: it is taken and answers at once, or was
// given back a moment ago.
const (
	rivalTries = 50
	rivalPause = 10 * time.Millisecond
)

// lockRivals keeps off the runs of hist that have another state directory, as root's has: hist's own lock says nothing to
// them. It takes the name of a socket in the kernel's abstract namespace, which is no file and goes with its process.
//
// The error is ErrBusy if this user, root or the owner of the home has the name. Who else takes it must not be able to
// prevent a repair, nor must a system without such names: then release does nothing.
func lockRivals(home, threadID string) (release func(), err error) {
	none := func() {}
	info, err := os.Stat(home)
	if err != nil {
		return none, nil //nolint:nilerr // the home's own locks tell what is wrong with it
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return none, nil
	}
	name := rivalName(st, threadID)
	for range rivalTries {
		fd, err := takeName(name)
		if err == nil {
			return func() { unix.Close(fd) }, nil //nolint:errcheck // the name is free whatever it says
		}
		if !errors.Is(err, unix.EADDRINUSE) {
			return none, nil
		}
		who, err := nameHolder(name)
		if err == nil {
			if own := uint32(os.Geteuid()); who.Uid != 0 && who.Uid != own && who.Uid != st.Uid {
				return none, nil
			}
			return nil, rivalBusy(int(who.Pid))
		}
		if !errors.Is(err, unix.ECONNREFUSED) {
			return none, nil
		}
		time.Sleep(rivalPause)
	}
	return none, nil
}

// rivalBusy tells of the process; one that lies in another container has no id here.
func rivalBusy(pid int) *Busy {
	if pid == os.Getpid() {
		pid = 0
	}
	return &Busy{PID: pid, Reason: otherHist}
}

// rivalName is one name for each thread of each home, however the home is called.
func rivalName(home *syscall.Stat_t, threadID string) *unix.SockaddrUnix {
	key := sha256.Sum256(fmt.Appendf(nil, "%d:%d:%s", home.Dev, home.Ino, strings.ToLower(threadID)))
	return &unix.SockaddrUnix{Name: "@hist-" + hex.EncodeToString(key[:16])}
}

// takeName binds a socket to the name and lets it answer who has it.
func takeName(name *unix.SockaddrUnix) (int, error) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	if err = unix.Bind(fd, name); err == nil {
		err = unix.Listen(fd, unix.SOMAXCONN)
	}
	if err != nil {
		unix.Close(fd) //nolint:errcheck // nothing was sent
		return -1, err
	}
	return fd, nil
}

// nameHolder asks the kernel who has the name: nothing is sent, and the holder need not do anything.
func nameHolder(name *unix.SockaddrUnix) (*unix.Ucred, error) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd) //nolint:errcheck // nothing was sent
	if err := unix.Connect(fd, name); err != nil {
		return nil, err
	}
	return unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
}
