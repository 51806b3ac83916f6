package relay

import (
	"errors"
	"io"
	"os/exec"

	"github.com/hist-cli/hist/internal/shim/front"
)

// stay runs an app-server as a child, and relays between its streams and the caller's until it has ended. It returns the
// client's exit code; the error says why it could not be run. It is for systems where a process cannot become another one.
func stay(a *asker, client *exec.Cmd, callerIn io.ReadCloser, callerOut io.WriteCloser) (code int, err error) {
	in, err := client.StdinPipe()
	if err != nil {
		return 0, err
	}
	out, err := client.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := client.Start(); err != nil {
		return 0, err
	}
	s := &stdio{conn: callerConn(), asker: a, callerIn: callerIn, callerOut: callerOut, clientIn: in, clientOut: out}
	go s.toClient()
	s.toCaller()
	err = client.Wait()
	a.finish()
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		return ended.ExitCode(), nil
	}
	return 0, err
}

// callerConn returns the only connection of a relay between streams.
func callerConn() *conn {
	c := newConn(newServer())
	c.rejoin = front.Rejoins() && front.ModeOf() == front.Repair
	return c
}
