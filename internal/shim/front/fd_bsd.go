//go:build unix && !linux

package front

import (
	"os"
	"syscall"
)

// replace puts f in the place of one of the standard streams, for the program that comes after exec.
func replace(f *os.File, fd int) error { return syscall.Dup2(int(f.Fd()), fd) }

// widen would let a pipe hold more; here the system sees to it by itself.
func widen(*os.File) {}
