//go:build !unix

package cmd

import (
	"os/exec"
	"time"
)

// inOwnGroup does nothing where there are no process groups: when the command's context is done, only the command itself is killed.
func inOwnGroup(*exec.Cmd) (end func(grace time.Duration)) { return func(time.Duration) {} }
