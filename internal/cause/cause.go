// Package cause tells of an error of the file system what went wrong alone. In: an error. Out: the same without the
// operation and the path, for a sentence that names both in its own words. A leaf.
package cause

import (
	"errors"
	"io/fs"
	"os"
)

// Of is the cause of an *fs.PathError or an *os.LinkError anywhere in err's chain, else err itself.
func Of(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	if le, ok := errors.AsType[*os.LinkError](err); ok {
		return le.Err
	}
	return err
}
