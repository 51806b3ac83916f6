//go:build unix

package clienttest

import (
	"errors"
	"os/exec"
	"syscall"
)

// setGroup gives the client and the tools that it runs a process group of their own.
func setGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup ends all of it: a client that hangs may have started others.
func killGroup(cmd *exec.Cmd) error {
	err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		return nil
	}
	return err
}
