//go:build unix

package relay

import (
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/hist-cli/hist/internal/shim/front"
)

// Main runs a relay as package front starts it, and returns the exit code, which nobody sees.
func Main(args []string) int {
	// A caller that has gone is an error of the write, also on standard output.
	signal.Ignore(syscall.SIGPIPE)
	if len(args) < 2 {
		return 2
	}
	client, err := strconv.Atoi(args[len(args)-1])
	if err != nil {
		return 2
	}
	switch args[0] {
	case "stdio":
		runStdio()
	case "unix":
		if len(args) == 4 {
			runSocket(args[1], args[2], client)
		}
	case "note":
		if len(args) == 4 {
			Note(args[1], args[2])
		}
	}
	return 0
}

// runStdio relays until the client has ended, and the caller has, or could have, read all that it said.
func runStdio() {
	a := newAsker()
	c := newConn(newServer())
	c.rejoin = os.Getenv(front.RejoinVar) == "1" && front.ModeOf() == front.Repair
	clientIn := os.NewFile(front.RelayIn, "the client's input")
	s := &stdio{
		conn: c, asker: a, callerIn: os.NewFile(0, "the caller's output"), callerOut: os.NewFile(1, "the caller's input"),
		clientIn: clientIn, clientOut: os.NewFile(front.RelayOut, "the client's output"),
	}
	up, down, deaf := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() { s.toClient(); close(up) }()
	go func() { s.toCaller(); close(down) }()
	go func() { awaitReader(front.RelayIn); close(deaf) }()
	<-down
	select {
	case <-up:
	case <-deaf: // the client has ended; a caller that goes on writing is to learn it
	}
	a.finish()
}
