package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"time"
)

// graceOfExec is how long the command of --exec has to end after it was asked to.
const graceOfExec = 5 * time.Second

// errExecTimeout says that the command of --exec has run longer than --exec-timeout.
var errExecTimeout = errors.New("it was ended, because it ran longer than --exec-timeout")

// run runs the command of --exec, and waits for it. Its failure does not end the watching.
func (w *watchRun) run(path string) {
	ctx := w.c.Context
	if limit := w.c.Duration("exec-timeout"); limit > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, limit, errExecTimeout)
		defer stop()
	}
	shell := []string{"sh", "-c"}
	if runtime.GOOS == "windows" {
		shell = []string{"cmd", "/c"}
	}
	c := exec.CommandContext(ctx, shell[0], shell[1], w.c.String("exec"))
	c.Env = append(os.Environ(), "HIST_SESSION="+path)
	c.Stdout, c.Stderr = streamOf(w.env.err), streamOf(w.env.err)
	c.WaitDelay = graceOfExec
	end := inOwnGroup(c)
	err := c.Run()
	if ctx.Err() != nil {
		end(graceOfExec)
	}
	switch {
	case w.c.Context.Err() != nil: // the watching has been ended, and so has the command
	case errors.Is(context.Cause(ctx), errExecTimeout):
		w.env.complain(fmt.Sprintf("--exec for %s: %v", path, errExecTimeout))
	case err != nil:
		w.env.complain(fmt.Sprintf("--exec for %s: %v", path, err))
	}
}
