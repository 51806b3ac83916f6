//go:build unix

package source

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// How often, and with what pause, openFile tries while another process holds a lease on the file.
const (
	leaseTries = 50
	leasePause = 10 * time.Millisecond
)

// openFile opens a file for reading. It does not block if a FIFO has taken the file's name meanwhile. On Linux a process
// that is about to replace the file makes others wait by a lease, usually for a moment; if it takes too long the error is
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
