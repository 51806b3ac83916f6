package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// CauseAt is Cause for the error of looking at a path. If that is a symbolic link to nothing, the error says where it leads.
func CauseAt(path string, err error) error {
	err = Cause(err)
	if to, none := os.Readlink(path); none == nil && errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: it is a symbolic link to %s", err, to)
	}
	return err
}

// Cause returns the cause of an *fs.PathError or an *os.LinkError anywhere in err's chain, else err itself: what went wrong, without the
// operation and the path, for a message that names both itself.
func Cause(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	if le, ok := errors.AsType[*os.LinkError](err); ok {
		return le.Err
	}
	return err
}
