package walk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hist-cli/hist/internal/format"
)

// Denied adds to the error of looking at a path, if that was not allowed, whose it is and what to do. Other errors stay as they are.
func Denied(path string, err error) error {
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	abs, none := filepath.Abs(path)
	if none != nil {
		return err
	}
	info, none := os.Lstat(abs)
	for none != nil && abs != filepath.Dir(abs) { // what is shut is a folder above it
		abs = filepath.Dir(abs)
		info, none = os.Lstat(abs)
	}
	if none != nil {
		return err
	}
	mine, owner, me := ownerOf(info)
	switch {
	case owner == "":
		return err
	case mine:
		return fmt.Errorf("%w; its permissions are %v: %s", err, info.Mode().Perm(), format.Command("chmod", "u+rwX", abs))
	}
	chown := []string{"sudo", "chown", me, abs}
	if info.IsDir() {
		chown = []string{"sudo", "chown", "-R", me, abs}
	}
	return fmt.Errorf("%w; it belongs to %s, as what a client run by sudo writes: %s", err, owner, format.Command(chown...))
}
