//go:build !windows && (!unix || solaris || aix)

package home

import (
	"errors"
	"os"
)

// tryLock cannot lock here: replacing a session is refused rather than done unprotected.
func tryLock(*os.File, bool) error { return errors.ErrUnsupported }

func unlock(*os.File) {}

func removeLock(*os.File) {}

func tooLong(error) bool { return false }
