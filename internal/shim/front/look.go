package front

import (
	"os"
	"time"

	"github.com/hist-cli/hist/internal/shim/argv"
)

// say tells why no client runs, or what in the environment is not understood: the only words of the shim's own.
func say(words string) { os.Stderr.WriteString("hist shim: " + words + "\n") } //nolint:errcheck // there is nobody else to tell

func sayDoubts() {
	for _, line := range Doubts() {
		say(line)
	}
}

// look has hist look at a session, and repair it, before the client reads it. What hist says, and whether it could be
// asked at all, keeps nobody from running the client.
func (p *Program) look(c argv.Command) {
	args := Question("argv", "--quiet", "--caller", p.Name)
	switch {
	case c.Session != "--last":
		args = append(args, "--", c.Session)
	case c.All:
		args = append(args, "--last", "--all")
	default:
		args = append(args, "--last")
	}
	if c.Session == "--last" && c.Chat {
		args = append(args, "--interactive")
	}
	self, err := os.Executable()
	if err != nil {
		return
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return
	}
	defer null.Close()
	child, err := os.StartProcess(self, args, &os.ProcAttr{Dir: c.Dir, Files: []*os.File{null, null, os.Stderr}})
	if err != nil {
		return
	}
	wait(child)
}

// patience is how long the shim waits for hist beyond the time that hist was given.
const patience = 3 * time.Second

// wait waits for hist to have looked. One that takes too long is asked to end, which leaves the session as it was.
func wait(child *os.Process) {
	limit := Timeout()
	end := time.AfterFunc(limit+patience, func() { child.Signal(endSignal) })  //nolint:errcheck // it may have ended
	kill := time.AfterFunc(limit+2*patience, func() { child.Signal(os.Kill) }) //nolint:errcheck // the same
	child.Wait()                                                               //nolint:errcheck // whatever came of it, the client is run
	end.Stop()
	kill.Stop()
}
