//go:build !unix

package disk

import "os"

// ProcessAlive says whether a process runs.
func ProcessAlive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	return p.Release() == nil
}
