package front

import (
	"os"
	"time"
)

// say prints to standard error. The shim speaks only if no client runs or a variable of the environment is not understood.
func say(words string) { os.Stderr.WriteString("hist shim: " + words + "\n") } //nolint:errcheck // there is nowhere else to report it

func sayDoubts() {
	for _, line := range Warnings() {
		say(line)
	}
}

// look has hist check a session, and repair it, before the client reads it. Whatever hist says, and even if it cannot be
// run, the client is run afterwards.
func (p *Program) look(c Command) {
	args := CheckCommand("argv", "--quiet", "--caller", p.Name)
	switch {
	case c.Chat:
		args = append(args, "--interactive")
	case c.Session == "--last":
		args = append(args, "--any")
	}
	switch {
	case c.Session != "--last":
		args = append(args, "--", c.Session)
	case c.All:
		args = append(args, "--last", "--all")
	default:
		args = append(args, "--last")
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

// extraWait is how long the shim waits for hist beyond the timeout that hist itself was given.
const extraWait = 3 * time.Second

// wait waits until hist has finished its check. If it takes too long it is asked to end, which leaves the session as it
// was, and then killed.
func wait(child *os.Process) {
	limit := Timeout()
	end := time.AfterFunc(limit+extraWait, func() { child.Signal(endSignal) })  //nolint:errcheck // it may have ended
	kill := time.AfterFunc(limit+2*extraWait, func() { child.Signal(os.Kill) }) //nolint:errcheck // the same
	child.Wait()                                                                //nolint:errcheck // whatever came of it, the client is run
	end.Stop()
	kill.Stop()
}
