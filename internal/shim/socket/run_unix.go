//go:build unix

package socket

import (
	"os/signal"
	"strconv"
	"syscall"
)

// Main runs a relay as package front starts it for a socket, and returns the exit code, which nobody sees. Its arguments
// are "unix", the socket's name, that of the client's own socket, and the client's process.
func Main(args []string) int {
	// A caller that has gone is an error of the write.
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
