// Package disk is what hist asks of the system about files, whichever they are: those of a client, but only regular ones, because opening a
// named pipe could wait for ever and a device may have no end; what went wrong there; who has one open, keeping others from opening it, and
// whether that process still runs; the directory of hist's own state; temporary directories that a command shares; files that programs leave
// as backups beside another, and what was read of a file or folder, kept until that changes (Recall).
//
// In: a path, a process's id, an error or the environment. Out: an open file, a directory, who uses a file, or the error's cause. It imports no
// other package of hist, and looks for no agent's locks: Busy only carries what an agent has found.
package disk

import (
	"errors"
	"io/fs"
	"os"
)

// ErrOther says that the path leads to a directory, a named pipe, a socket or a device.
var ErrOther = errors.New("not a regular file")

// Open opens a regular file, or a symbolic link to one, for reading. Its errors are ErrOther and those of os.Open.
func Open(path string) (*os.File, error) {
	if err := Check(path); err != nil {
		return nil, err
	}
	return os.Open(path)
}

// Check says whether a path leads to a regular file. Its errors are ErrOther and those of os.Stat.
func Check(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: path, Err: ErrOther}
	}
	return err
}

// ErrLarge says that a file is larger than any that hist keeps for itself.
var ErrLarge = errors.New("it is too large to be one that hist has written")

// maxKept is how large a file is at most that hist keeps for itself, in bytes: the record of a run of 200,000 sessions.
const maxKept = 256 << 20

// ReadFile is os.ReadFile for regular files only that are not too large. Its errors are ErrOther, ErrLarge and those of os.ReadFile.
func ReadFile(path string) ([]byte, error) {
	if err := Check(path); err != nil {
		return nil, err
	}
	if info, err := os.Stat(path); err == nil && info.Size() > maxKept {
		return nil, &fs.PathError{Op: "open", Path: path, Err: ErrLarge}
	}
	return os.ReadFile(path)
}

// IsDir says whether there is a directory at a path, or a link to one.
func IsDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// Head is how a regular file begins, up to size bytes; nil if it can't be opened.
func Head(path string, size int) []byte {
	f, err := Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	head := make([]byte, size)
	n, _ := f.Read(head) // what can't be read is missing
	return head[:n]
}
