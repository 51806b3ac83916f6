package main

import (
	"context"
	"os"

	"github.com/hist-cli/hist/testing/codex/clienttest"
)

// front is a client that runs as an editor's or a front end's: one process for many turns, until something stops it.
type front struct {
	app     *clienttest.App
	version string
	thread  string
}

// close ends the client, as an editor does that is closed.
func (f *front) close() {
	if f.app != nil {
		_ = f.app.Close() // it may have been killed
		f.app = nil
	}
}

// frontTurn plays a turn in the front end, which is started if it does not run, or runs another version. A client that
// is to have no room is started for the turn, and ended behind it.
func (p *player) frontTurn(ctx context.Context, h *clienttest.Home, prompt string) clienttest.Result {
	alone := p.fault.Kind == "full"
	if p.front.version != h.Bin.Version || alone {
		p.front.close()
	}
	res := clienttest.Result{ExitCode: -1}
	if p.front.app == nil {
		if res.Err = p.startFront(ctx, h); res.Err != nil {
			return res
		}
	}
	ended := make(chan error, 1)
	go func() { ended <- p.front.app.Turn(ctx, p.front.thread, prompt) }()
	if p.fault.stops() {
		ctx, stop := context.WithTimeout(ctx, clienttest.Deadline)
		reached := make(chan error, 1)
		go func() { reached <- p.fault.when()(ctx, h) }()
		select {
		case err := <-ended: // before the moment came
			ended <- err
		case <-reached:
		}
		stop()
		if p.fault.Kind == "interrupt" {
			p.front.close()
		} else {
			p.front.app.Kill()
			p.front.app = nil
		}
	}
	if res.Err = <-ended; res.Err == nil {
		res.ExitCode = 0
	}
	if alone {
		p.front.close()
	}
	res.Requests = h.Server.Requests()
	if p.path != "" {
		res.Rollout = p.path
	} else if found := h.Rollouts(); len(found) > 0 {
		res.Rollout = found[0]
	}
	return res
}

// startFront starts the client, and the thread, or resumes it.
func (p *player) startFront(ctx context.Context, h *clienttest.Home) error {
	app, err := h.App(ctx)
	if err != nil {
		return err
	}
	method := "thread/start"
	if _, err := os.Stat(p.path); p.id != "" && err == nil {
		method = "thread/resume"
	}
	thread, _, err := app.Thread(ctx, method, p.id)
	if err != nil {
		app.Kill()
		return err
	}
	p.front = front{app, h.Bin.Version, thread}
	return nil
}
