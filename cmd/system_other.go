//go:build !unix

package cmd

import (
	"os/exec"
	"time"
)

// freeBytes can't tell how much room a disk has here.
func freeBytes(string) (free int64, ok bool) { return 0, false }

// inOwnGroup does nothing where there are no process groups: when the command's context is done, only the command itself is killed.
func inOwnGroup(*exec.Cmd) (end func(grace time.Duration)) { return func(time.Duration) {} }
