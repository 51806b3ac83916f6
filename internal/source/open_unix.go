//go:build unix

package source

import (
	"os"
	"syscall"
)

// openFile opens for reading without ever waiting: a FIFO that took the file's name since we looked must not hang us.
func openFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}
