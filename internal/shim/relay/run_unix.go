//go:build unix

package relay

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/hist-cli/hist/internal/shim/front"
)

// A relay between streams does its work in an init function, before the packages that hist itself needs are initialised,
// because a caller is waiting for its first answer. That is also why this package imports little.
func init() {
	if len(os.Args) > 1 && os.Args[0] == front.RelayName {
		switch os.Args[1] {
		case "stdio":
			runStdio()
			os.Exit(0)
		case "note":
			if len(os.Args) > 4 {
				note(os.Args[2], os.Args[3], os.Args[4])
			}
			os.Exit(0)
		}
	}
}

// runStdio relays until the client has ended and all its output has been written to the caller.
func runStdio() {
	// When the caller has gone, a write should fail rather than end this process, also on standard output.
	signal.Ignore(syscall.SIGPIPE)
	a := newAsker()
	clientIn := os.NewFile(front.RelayIn, "the client's input")
	s := &stdio{
		conn: callerConn(), asker: a, callerIn: os.NewFile(0, "the caller's output"), callerOut: os.NewFile(1, "the caller's input"),
		clientIn: clientIn, clientOut: os.NewFile(front.RelayOut, "the client's output"),
	}
	up, down, noReader := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() { s.toClient(); close(up) }()
	go func() { s.toCaller(); close(down) }()
	go func() { awaitNoReader(front.RelayIn); close(noReader) }()
	<-down
	select {
	case <-up:
	case <-noReader: // the client has ended: this process ends, so that a caller that goes on writing gets an error
	}
	a.finish()
}
