package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"testing"
)

func TestCause(t *testing.T) {
	other := errors.New("other")
	for _, c := range []struct{ err, want error }{
		{&fs.PathError{Op: "open", Path: "x", Err: fs.ErrNotExist}, fs.ErrNotExist},
		{fmt.Errorf("x: %w", &fs.PathError{Op: "open", Path: "x", Err: fs.ErrPermission}), fs.ErrPermission},
		{&os.LinkError{Op: "rename", Old: "x", New: "y", Err: fs.ErrExist}, fs.ErrExist},
		{other, other},
		{nil, nil},
	} {
		if got := Cause(c.err); got != c.want { //nolint:errorlint // the very one
			t.Errorf("%v: %v, want %v", c.err, got, c.want)
		}
	}
}
