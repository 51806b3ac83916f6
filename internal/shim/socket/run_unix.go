//go:build unix

package socket

import (
	"os/signal"
	"strconv"
	"syscall"
)

// Main runs the relay that package front starts for a socket, and returns the exit code, which nobody sees. Its arguments
// are "unix", the path to listen at, the path of the client's socket, and the client's process id.
func Main(args []string) int {
	// When the caller has gone, a write should fail rather than end this process.
	signal.Ignore(syscall.SIGPIPE)
	if len(args) != 4 || args[0] != "unix" {
		return 2
	}
	client, err := strconv.Atoi(args[3])
	if err != nil {
		return 2
	}
	runSocket(args[1], args[2], client)
	return 0
}
