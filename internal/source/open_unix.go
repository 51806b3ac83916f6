//go:build unix

package source

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// How long openFile tries while another process holds a lease on the file.
const (
	leaseTries = 50
	leasePause = 10 * time.Millisecond
)

// openFile opens for reading without ever waiting: a FIFO that took the file's name since we looked must not hang us.
// On Linux a process that is about to replace the file holds off who opens it, for a moment: if it takes longer,
// ErrLeased.
func openFile(path string) (*os.File, error) {
	for try := 0; ; try++ {
		f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		if !errors.Is(err, syscall.EAGAIN) {
			return f, err
		}
		if try == leaseTries {
			return nil, fmt.Errorf("%w: %w", ErrLeased, err)
		}
		time.Sleep(leasePause)
	}
}
