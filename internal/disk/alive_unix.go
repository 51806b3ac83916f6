//go:build unix

package disk

import (
	"errors"
	"syscall"
)

// ProcessAlive says whether a process runs.
func ProcessAlive(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
