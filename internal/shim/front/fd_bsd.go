//go:build unix && !linux

package front

import (
	"os"
	"syscall"
)

// replace makes f one of the standard streams of the program that this process becomes by exec.
func replace(f *os.File, fd int) error { return syscall.Dup2(int(f.Fd()), fd) }

// enlargePipe does nothing: these systems size pipes by themselves.
func enlargePipe(*os.File) {}
