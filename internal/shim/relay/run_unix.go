//go:build unix

package relay

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/hist-cli/hist/internal/shim/front"
)

// A relay between streams does its work while the program is initialised, before the packages that hist itself needs: a
// caller waits for its first answer. That is why this package imports little, and why there is an init function here.
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

// runStdio relays until the client has ended, and the caller has, or could have, read all that it said.
func runStdio() {
	// A caller that has gone is an error of the write, also on standard output.
	signal.Ignore(syscall.SIGPIPE)
	a := newAsker()
	clientIn := os.NewFile(front.RelayIn, "the client's input")
	s := &stdio{
		conn: callerConn(), asker: a, callerIn: os.NewFile(0, "the caller's output"), callerOut: os.NewFile(1, "the caller's input"),
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
