// Package cause strips an error of the file system down to what went wrong. In: an error. Out: the same without the
// operation and the path, for a message that names both itself. It imports no other package of hist.
package cause

import (
	"errors"
	"io/fs"
	"os"
)

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
