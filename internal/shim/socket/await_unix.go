//go:build unix

package socket

import (
	"os"
	"time"
)

// parentPause is how often it is looked whether the client, which started the relay, is still there.
const parentPause = 100 * time.Millisecond

// awaitParent returns when the process that started this one has ended, which pid is the id of.
func awaitParent(pid int) {
	for os.Getppid() == pid {
		time.Sleep(parentPause)
	}
}
