package home

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hist-cli/hist/internal/disk"
)

// otherHist is why a thread is busy that another run of hist has locked.
const otherHist = "another hist is repairing it, or undoes a repair of it"

// lockOwn takes the lock by which two runs of hist keep off each other's thread, in hist's own directory: older clients have
// no locks, and theirs must not appear in a home that has none.
func lockOwn(home, threadID string) (*os.File, error) {
	name, err := ownLock(home, threadID)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return nil, fmt.Errorf("taking hist's lock: %w", err)
	}
	for {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, fmt.Errorf("taking hist's lock: %w", err)
		}
		switch err := tryLock(f, true); {
		case errors.Is(err, errLocked):
			f.Close()
			return nil, &Busy{PID: otherHolder(name), Lock: name, Reason: otherHist}
		case err != nil:
			f.Close()
			return nil, fmt.Errorf("taking hist's lock %s: %w", name, err)
		case stillNamed(f):
			return f, nil
		}
		f.Close() // it was removed by who had it before
	}
}

// unlockOwn removes the lock's file and gives the lock back.
func unlockOwn(f *os.File) {
	removeLock(f)
	f.Close()
}

// ownLock is the lock's file: one for each thread of each home, however the home is called.
func ownLock(home, threadID string) (string, error) {
	dir, err := disk.StateDir()
	if err != nil {
		return "", err
	}
	if home, err = filepath.Abs(home); err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(home); err == nil {
		home = real
	}
	key := sha256.Sum256([]byte(home + "\x00" + strings.ToLower(threadID)))
	return filepath.Join(dir, "locks", hex.EncodeToString(key[:16])+lockSuffix), nil
}

// stillNamed says whether an open file is the one that stands under its name.
func stillNamed(f *os.File) bool {
	mine, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(f.Name())
	return err == nil && os.SameFile(mine, there)
}

// otherHolder is the process that has a file open, 0 if it is only this one or not known.
func otherHolder(name string) int {
	if pid := disk.Holder(name); pid != os.Getpid() {
		return pid
	}
	return 0
}
