//go:build unix

package socket

import (
	"os"
	"time"
)

// parentPause is the time between two checks whether the client, which started the relay, still runs.
const parentPause = 100 * time.Millisecond

// awaitParent returns when this process's parent, whose id is pid, has ended.
func awaitParent(pid int) {
	for os.Getppid() == pid {
		time.Sleep(parentPause)
	}
}
