// Package cause strips an error of the file system down to what went wrong. In: an error. Out: the same without the
// operation and the path, for a message that names both itself. It imports no other package of hist.
package cause

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// At is Of for the error of looking at a path. If that is a symbolic link to nothing, the error says where it leads.
func At(path string, err error) error {
	err = Of(err)
	if to, none := os.Readlink(path); none == nil && errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: it is a symbolic link to %s", err, to)
	}
	return err
}

// Of returns the cause of an *fs.PathError or an *os.LinkError anywhere in err's chain, else err itself.
func Of(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	if le, ok := errors.AsType[*os.LinkError](err); ok {
		return le.Err
	}
	return err
}
