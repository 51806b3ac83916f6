package home

import (
	"errors"
	"math"
	"os"

	"golang.org/x/sys/windows"
)

// tryLock takes the lock of a whole open file without waiting, as Rust's File::try_lock does; errLocked if somebody
// else has it.
func tryLock(f *os.File, exclusive bool) error {
	flags := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if exclusive {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, math.MaxUint32, math.MaxUint32, new(windows.Overlapped))
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return errLocked
	}
	return err
}

func unlock(f *os.File) {
	// The lock goes with the handle anyway.
	_ = windows.UnlockFileEx(windows.Handle(f.Fd()), 0, math.MaxUint32, math.MaxUint32, new(windows.Overlapped))
}

// removeLock leaves the file: an open one does not go away at once here, and its existence means nothing.
func removeLock(*os.File) {}

func tooLong(err error) bool { return errors.Is(err, windows.ERROR_FILENAME_EXCED_RANGE) }
