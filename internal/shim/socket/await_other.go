//go:build unix && !linux

package socket

// awaitEnd returns when a process has ended.
func awaitEnd(pid int) { awaitParent(pid) }
