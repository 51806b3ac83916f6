package cmd

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/hist-cli/hist/internal/agent/all"
	"github.com/hist-cli/hist/internal/decisions"
	"github.com/hist-cli/hist/internal/disk"
	"github.com/hist-cli/hist/internal/inspect"
	"github.com/hist-cli/hist/internal/preresume"
	"github.com/hist-cli/hist/internal/runs"
	"github.com/hist-cli/hist/internal/source"
	"github.com/hist-cli/hist/repair"
)

func (p *preRun) begin() {
	var id [6]byte
	rand.Read(id[:]) // never fails
	p.began = time.Now()
	p.log = decisions.Decision{
		ID: fmt.Sprintf("%x", id), Time: p.began.UTC().Truncate(time.Second), Asked: p.asked, Via: p.c.String("via"), Caller: p.c.String("caller"),
	}
	if p.log.CWD = p.cwd; p.cwd == "" {
		p.log.CWD, _ = os.Getwd() // if it is not known, the entry has none
	}
}

func (p *preRun) note(a *preresume.Answer) {
	p.log.Verdict, p.log.Thread, p.log.Path = string(a.Verdict), a.Thread, a.Path
	p.log.Why, p.log.Millis = a.Reason, time.Since(p.began).Milliseconds()
	if a.Turn != nil {
		p.log.State = a.Turn.State
	}
	if a.Thread != "" {
		p.log.Available = &a.Thread
	}
	switch {
	case p.log.Via == viaStart:
		p.log.Used, p.log.Available = decisions.New, nil
		if p.lost != nil {
			p.log.Available, p.log.Why = &p.lost.Thread, "a new thread was begun, though the last turn of this one went wrong ("+p.lost.State+")"
		}
	case p.log.Via != "":
		p.log.Used = a.Thread
	}
}

// viaStart is the method that begins a new thread. The question is then which thread could have been resumed instead.
const viaStart = "thread/start"

// keep writes the log entry. If that fails, it is only reported: the answer matters more.
func (p *preRun) keep() {
	if err := decisions.Append(p.log); err != nil {
		p.env.complain(err.Error())
	}
}

// repair repairs the session in place and looks at it again. The answer says what keeps it from being repaired.
func (p *preRun) repair(t target, before *preresume.Answer) (*preresume.Answer, error) {
	digest, err := runs.HashOf(p.c.Context, p.src)
	if err != nil {
		return nil, err
	}
	p.log.Digest = digest
	tried, err := decisions.Tried(digest)
	switch {
	case err != nil:
		before.RepairError = "it can't be told whether these bytes were repaired before: " + err.Error()
		return before, nil
	case tried != "":
		before.RepairError = "these bytes were repaired before (" + tried + "); to repair them again use hist repair --in-place"
		return before, nil
	}
	run, err := p.repairInPlace(t)
	switch {
	case errors.Is(err, disk.ErrBusy), errors.Is(err, source.ErrChanged):
		before.Verdict, before.Next, before.Reason = preresume.InUse, preresume.RetryLater, err.Error()
		return before, nil
	case err != nil && p.c.Context.Err() != nil:
		return nil, context.Canceled
	case err != nil:
		before.RepairError = err.Error()
		return before, nil
	}
	p.log.Repaired, p.log.Run = run != "", run
	after, err := p.answer(t)
	if err != nil {
		return unseen(before, run, err)
	}
	if run == "" { // nothing was changed: nothing could be repaired, or somebody else has done it
		if after.Damaged() {
			after.RepairError = "nothing in it can be repaired in place"
		}
		return after, nil
	}
	after.Repaired, after.Run = true, run
	return after, nil
}

// unseen is the answer for a session that was repaired but then could not be looked at again. It must say what was done,
// because that can be undone. If nothing was done, only the error remains.
func unseen(before *preresume.Answer, run string, err error) (*preresume.Answer, error) {
	if run == "" {
		return nil, err
	}
	before.Repaired, before.Run = true, run
	before.Reason = fmt.Sprintf("it was repaired (hist undo %s undoes that), but could not be looked at again: %v", run, err)
	return before, nil
}

func (p *preRun) repairInPlace(t target) (string, error) {
	opts := inspect.AtRest(p.src, t.home, p.by)
	opts.Error = p.failure
	rep, err := repair.Do(p.c.Context, repair.Job{
		Source: p.src, Lint: opts, Mode: repair.InPlace, Home: t.home,
		Begin: func() (*runs.Run, error) { return runs.New(Version()) },
	})
	if err != nil {
		return "", err
	}
	return rep.Run, nil
}

// exec runs the command with this process's streams, passes signals on to it, and exits with its code. hist stays running so
// that the exit code can be logged; a terminal's own signals reach the command directly. The default command is the answer's:
// the one that resumes the session, in the directory from which the client finds it.
func (p *preRun) exec(a *preresume.Answer) error {
	own := len(p.command) == 0
	if own {
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
	defer close(signals)
	defer signal.Stop(signals)
	if err := c.Start(); err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			err = errors.New("it is not in PATH; put it there, or run the command with its whole path")
		}
		return fmt.Errorf("running %s: %w", p.command[0], err)
	}
	go func() {
		for s := range signals {
			if s != os.Interrupt { // the terminal has sent this one to both
				c.Process.Signal(s) //nolint:errcheck // the command may have ended meanwhile
			}
		}
	}()
	err := c.Wait()
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
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

// card prints the restart card of a session. It reads the whole session.
func (p *preRun) card(t target) error {
	conf, err := loadConfig(p.c)
	if err != nil {
		return err
	}
	r, opts, err := p.env.look(p.c.Context, t, conf, p.by)
	if err != nil {
		return err
	}
	defer r.src.Close()
	if partial := r.result.Summary.Partial; partial != nil {
		return fmt.Errorf("%w; no card, it was read up to byte %d only", partial, r.result.Summary.Bytes)
	}
	card, err := preresume.MakeCard(p.c.Context, r.src, r.result, preresume.CardOptions{Lint: opts, CWD: p.log.CWD, Content: p.c.Bool("show-content"), Live: opts.Live})
	if err != nil {
		return err
	}
	text := card.Text()
	if p.c.Bool("markdown") {
		text = card.Markdown()
	}
	_, err = io.WriteString(p.out(), printable(text))
	return writing("the card", err)
}
