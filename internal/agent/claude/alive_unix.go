//go:build unix

package claude

import (
	"errors"
	"syscall"
)

// alive says whether a process runs.
func alive(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
