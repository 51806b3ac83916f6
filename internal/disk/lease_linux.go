package disk

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// How often, and with what pause, a lease is tried: a backup program or an indexer may have the file open for a moment.
const (
	leaseTries = 3
	leasePause = 15 * time.Millisecond
)

// How often, and with what pause, a file is tried to be opened while another process has a lease on it.
const (
	openTries = 50
	openPause = 10 * time.Millisecond
)

// Guard holds a lease on a file: as long as the lease is not broken, nobody else has the file open.
type Guard struct {
	f    *os.File
	once sync.Once
}

// Hold makes sure that no process, this one included, has the file at path (not a symbolic link) open, and keeps it so: a
// process that opens the file now waits until Release, or until the kernel's lease-break-time (45 s) is over. Hold the lease
// during a rename over the file, and call Broken before the rename. Until Release this process must not open the file
// itself, or it would wait, too.
//
// A nil Guard with a nil *Busy means that the kernel gave no lease (the file belongs to another user, or the file system has
// no leases), and that no process was found among those whose descriptors we may see. A nil Guard may be used.
func Hold(path string) (*Guard, *Busy, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
	if errors.Is(err, unix.EAGAIN) { // another process has a lease on it, to replace it
		return nil, openBusy(Holder(path)), nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("finding out whether %s is open: %w", path, Cause(err))
	}
	if err = retryLease(func() error { return setLease(f, unix.F_WRLCK) }); err == nil {
		return &Guard{f: f}, nil, nil
	}
	f.Close()
	return nil, refused(path, err), nil
}

// retryLease tries several times to get a lease.
func retryLease(lease func() error) (err error) {
	for try := 1; ; try++ {
		err = lease()
		if try == leaseTries || !errors.Is(err, unix.EAGAIN) {
			return err
		}
		time.Sleep(leasePause)
	}
}

// refused says who uses a file on which the kernel gave no lease; nil if it is not known that anybody does.
func refused(path string, err error) *Busy {
	pid := Holder(path)
	if errors.Is(err, unix.EAGAIN) || pid != 0 {
		return openBusy(pid)
	}
	return nil // EACCES, EINVAL, ENOLCK: this file can't have leases
}

// Broken says whether somebody has tried to open the file since Hold.
func (g *Guard) Broken() bool {
	if g == nil {
		return false
	}
	kind := unix.F_UNLCK
	err := Control(g.f, func(fd int) (err error) {
		kind, err = unix.FcntlInt(uintptr(fd), unix.F_GETLEASE, 0)
		return err
	})
	return err != nil || kind != unix.F_WRLCK
}

// Release gives the lease back. It may be called more than once.
func (g *Guard) Release() {
	if g == nil {
		return
	}
	g.once.Do(func() {
		_ = setLease(g.f, unix.F_UNLCK) // closing releases it, too
		g.f.Close()
	})
}

func setLease(f *os.File, kind int) error {
	return Control(f, func(fd int) error { return leaseOn(fd, kind) })
}

// Written says whether any process has the file at path open to write to it: a process that only reads, as another hist or a
// backup does, is no client at work. It is called for each session of a home, so it makes as few system calls as possible.
func Written(path string) (*Busy, error) {
	fd, err := openNow(path)
	if errors.Is(err, unix.EAGAIN) { // another process has a lease on it, to replace it
		return openBusy(Holder(path)), nil
	}
	if err != nil {
		return nil, fmt.Errorf("finding out whether %s is open: %w", path, err)
	}
	err = retryLease(func() error { return leaseOn(fd, unix.F_RDLCK) })
	unix.Close(fd) //nolint:errcheck // nothing was written; it releases the lease, too
	if err == nil {
		return nil, nil
	}
	return refused(path, err), nil
}

// openNow opens a file that is not a symbolic link. If another process is about to replace it, it waits for a moment.
func openNow(path string) (fd int, err error) {
	for try := 0; try < openTries; try++ {
		fd, err = unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EAGAIN):
			time.Sleep(openPause)
		default:
			return fd, err
		}
	}
	return fd, err
}

func leaseOn(fd, kind int) error {
	_, err := unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, kind)
	return err
}

func openBusy(pid int) *Busy {
	switch pid {
	case 0:
		return &Busy{Reason: "another process has the file open"}
	case os.Getpid():
		return &Busy{PID: pid, Reason: "this process still has the file open"}
	}
	return &Busy{PID: pid, Reason: fmt.Sprintf("process %d has the file open", pid)}
}

// Holder returns the id of a process that has the file open; this process's own only if no other is found, 0 if none is.
func Holder(path string) int {
	want, err := os.Stat(path)
	if err != nil {
		return 0
	}
	base, self, found := filepath.Base(path), os.Getpid(), 0
	procs, _ := os.ReadDir("/proc")
	for _, proc := range procs {
		pid, err := strconv.Atoi(proc.Name())
		if err != nil || pid == self && found != 0 {
			continue
		}
		dir := filepath.Join("/proc", proc.Name(), "fd")
		fds, _ := os.ReadDir(dir) // empty for other users' processes
		for _, fd := range fds {
			link := filepath.Join(dir, fd.Name())
			// The name is compared first, because a stat of a descriptor on a dead network mount would hang.
			if to, err := os.Readlink(link); err != nil || filepath.Base(to) != base {
				continue
			}
			if there, err := os.Stat(link); err == nil && os.SameFile(want, there) {
				if pid != self {
					return pid
				}
				found = pid
			}
		}
	}
	return found
}
