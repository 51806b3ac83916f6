//go:build unix && !solaris && !aix

package home

import (
	"errors"
	"os"
	"syscall"

	"github.com/hist-cli/hist/internal/disk"
)

// tryLock takes the advisory lock of an open file without waiting; errLocked if somebody else has it.
func tryLock(f *os.File, exclusive bool) error {
	how := syscall.LOCK_SH | syscall.LOCK_NB
	if exclusive {
		how = syscall.LOCK_EX | syscall.LOCK_NB
	}
	err := disk.Control(f, func(fd int) error { return flock(fd, how) })
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errLocked
	}
	return err
}

func unlock(f *os.File) {
	// The lock goes with the descriptor anyway.
	_ = disk.Control(f, func(fd int) error { return flock(fd, syscall.LOCK_UN) })
}

// removeLock removes the file of a lock that is still held.
func removeLock(f *os.File) { _ = os.Remove(f.Name()) }

func tooLong(err error) bool { return errors.Is(err, syscall.ENAMETOOLONG) }

func flock(fd, how int) error {
	for {
		if err := syscall.Flock(fd, how); err != syscall.EINTR {
			return err
		}
	}
}
