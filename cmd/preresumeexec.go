package cmd

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/disk"
	"github.com/hist-cli/hist/internal/preresume"
)

// exec runs the command with this process's streams, passes signals on to it, and exits with its code. hist stays running so
// that the exit code can be logged; a terminal's own signals reach the command directly. The default command is the answer's:
// the one that resumes the session, in the directory from which the client finds it.
func (p *preRun) exec(a *preresume.Answer) error {
	own := len(p.command) == 0
	if len(p.command) == 0 {
		p.command = a.Resume
	}
	if len(p.command) == 0 {
		return errors.New("hist knows no command that resumes this session; give one after --")
	}
	p.log.Ran, p.log.Used = nameOnly(p.command), p.log.Thread
	p.keep()
	c := exec.Command(p.command[0], p.command[1:]...)
	switch {
	case p.resume && disk.IsDir(a.CWD):
		c.Dir = a.CWD
	case own && elsewhere(a, p.log.CWD):
		c.Dir = a.Dir()
	}
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, streamOf(p.env.out), streamOf(p.env.err)
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, endings()...)
	defer signal.Stop(signals)
	if err := c.Start(); err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			err = errors.New("it is not in PATH; put it there, or run the command with its whole path")
		}
		return fmt.Errorf("running %s: %w", p.command[0], err)
	}
	done := make(chan error, 1)
	go func() { done <- c.Wait() }()
	var err error
	for running := true; running; {
		select {
		case s := <-signals:
			if s != os.Interrupt { // the terminal has sent this one to both
				c.Process.Signal(s) //nolint:errcheck // the command may have ended meanwhile
			}
		case err = <-done:
			running = false
		}
	}
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		return fmt.Errorf("running %s: %w", p.command[0], err)
	}
	code := c.ProcessState.ExitCode()
	if status, ok := c.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		code = afterSignal + int(status.Signal())
	}
	p.log.Exit = &code
	p.keep()
	return exit(code)
}

// nameOnly is a command as it may be logged: the program's name and subcommand. Any other argument may hold somebody's words,
// or a secret, so only its length is logged.
func nameOnly(command []string) []string {
	out := []string{filepath.Base(command[0])}
	for _, a := range command[1:] {
		if !all.Subcommand(a) {
			a = fmt.Sprintf("(%d bytes)", len(a))
		}
		out = append(out, a)
	}
	return out
}
