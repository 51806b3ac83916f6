package front

import (
	"os"
	"syscall"
)

// replace puts f in the place of one of the standard streams, for the program that comes after exec.
func replace(f *os.File, fd int) error { return syscall.Dup3(int(f.Fd()), fd, 0) }
