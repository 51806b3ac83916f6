//go:build unix

package inuse

import (
	"errors"
	"syscall"
)

// Alive says whether a process runs.
func Alive(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
