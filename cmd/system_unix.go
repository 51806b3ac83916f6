//go:build unix

package cmd

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// freeBytes is how many bytes a user may still write on the disk of a directory; ok is false if that can't be told.
func freeBytes(dir string) (free int64, ok bool) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, false
	}
	return int64(s.Bavail) * int64(s.Bsize), true //nolint:unconvert // their types differ between systems
}

// inOwnGroup starts a command in a process group of its own, and has the whole group asked to end when the command's context is done.
// The returned function waits for that for as long as grace, and kills what is left.
func inOwnGroup(c *exec.Cmd) (end func(grace time.Duration)) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	signal := func(s syscall.Signal) error {
		if c.Process == nil {
			return os.ErrProcessDone // it could not be started
		}
		err := syscall.Kill(-c.Process.Pid, s)
		if errors.Is(err, syscall.ESRCH) {
			return os.ErrProcessDone
		}
		return err
	}
	c.Cancel = func() error { return signal(syscall.SIGTERM) }
	return func(grace time.Duration) {
		for until := time.Now().Add(grace); signal(0) == nil && time.Now().Before(until); {
			time.Sleep(10 * time.Millisecond)
		}
		_ = signal(syscall.SIGKILL) // an error says that nothing is left
	}
}
