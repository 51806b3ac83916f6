//go:build unix && !linux

package clienttest

import "syscall"

// dieWithParent is for Linux only: elsewhere a client outlives a test that is ended by its time limit.
func dieWithParent(*syscall.SysProcAttr) {}
