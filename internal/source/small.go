package source

import (
	"errors"
	"fmt"
	"io"
)

// ErrTooLarge: a file that is held whole is larger than it may be.
var ErrTooLarge = errors.New("the file is too large")

// Small returns the text of a regular file of at most limit bytes, which is held whole: a setting, not a session.
// Anything but a regular file is ErrNotRegular, and never waited for; a larger one is ErrTooLarge.
func Small(path string, limit int64) ([]byte, error) {
	f, err := openFile(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: it is %s", ErrNotRegular, kind(info.Mode()))
	}
	text, err := io.ReadAll(io.LimitReader(f, limit+1)) // it may grow
	if err == nil && int64(len(text)) > limit {
		return nil, fmt.Errorf("%w: it has more than %d bytes", ErrTooLarge, limit)
	}
	return text, err
}
