// Package regular opens files that a client keeps beside its sessions, but only regular ones: opening a named pipe could wait
// for ever, and a device may have no end. In: a path. Out: the file, open for reading. It imports no other package of hist.
package regular

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

// ReadFile is os.ReadFile for regular files only. Its errors are ErrOther and those of os.ReadFile.
func ReadFile(path string) ([]byte, error) {
	if err := Check(path); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}
