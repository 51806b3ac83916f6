package relay

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/hist-cli/hist/internal/decisions"
	"github.com/hist-cli/hist/internal/shim/front"
)

// asker runs hist to check sessions, and writes the log of decisions.
type asker struct {
	log func(decisions.Decision)
	run func(ctx context.Context, args []string) error

	jobs chan func() // run one after the other in the background
}

// maxJobs is how many lines of the log may wait to be written; further ones are not logged.
const maxJobs = 64

func newAsker() *asker {
	a := &asker{
		log:  func(d decisions.Decision) { decisions.Append(d) }, //nolint:errcheck // there is nowhere to report it
		run:  runHist,
		jobs: make(chan func(), maxJobs),
	}
	go func() {
		for job := range a.jobs {
			job()
		}
	}()
	return a
}

// inBackground runs a job without holding up the messages; it drops the job if too many are waiting.
func (a *asker) inBackground(job func()) {
	select {
	case a.jobs <- job:
	default:
	}
}

// drained returns a channel that is closed when all jobs given so far are done.
func (a *asker) drained() <-chan struct{} {
	done := make(chan struct{})
	go func() { a.jobs <- func() { close(done) } }()
	return done
}

// finishTimeout is how long the relay waits at its end for the log to be written.
const finishTimeout = 500 * time.Millisecond

// finish waits until the log is written, at most finishTimeout.
func (a *asker) finish() {
	select {
	case <-a.drained():
	case <-time.After(finishTimeout):
	}
}

// look has hist check the thread that a message names, and repair it. It returns when that is done or has taken too long.
// hist writes the log itself; a line is added here only if it could not.
func (a *asker) look(r *request, caller string) {
	began := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), front.Timeout())
	defer cancel()
	err := a.run(ctx, front.CheckCommand(r.Method, "--quiet", "--caller", caller, "--", r.Params.Thread))
	if err == nil {
		return
	}
	why := "hist could not look: " + err.Error()
	if ctx.Err() != nil {
		why = "hist took too long to look"
	}
	a.inBackground(func() {
		a.decided(decisions.Decision{Via: r.Method, Caller: caller, Asked: []string{r.Params.Thread}, Used: r.Params.Thread, Why: why, Millis: time.Since(began).Milliseconds()})
	})
}

// started logs that a new thread was begun, and which thread could have been resumed instead: lost, if it is known, else the
// last one that hist finds for the directory.
func (a *asker) started(r *request, caller, lost, used, why string) {
	a.inBackground(func() {
		if lost == "" && r.Params.CWD != "" {
			ctx, cancel := context.WithTimeout(context.Background(), front.Timeout())
			defer cancel()
			args := []string{"hist", "pre-resume", "--quiet", "--timeout", front.Timeout().String(), "--via", r.Method, "--caller", caller, "--last", "--cwd", r.Params.CWD}
			if a.run(ctx, args) == nil {
				return
			}
		}
		d := decisions.Decision{Via: r.Method, Caller: caller, CWD: r.Params.CWD, Asked: []string{}, Used: used, Why: why}
		if lost != "" {
			d.Available = &lost
		}
		a.decided(d)
	})
}

func (a *asker) decided(d decisions.Decision) {
	d.ID, d.Time = fmt.Sprintf("%012x", rand.Uint64()>>16), time.Now().UTC().Truncate(time.Second)
	a.log(d)
}

// killDelay is how long hist has to end by itself after it was told that its time is over.
const killDelay = 500 * time.Millisecond

// answerCodes are the exit codes with which hist pre-resume has given an answer. Any other means that it failed or did not
// understand its arguments, and the session was not checked.
var answerCodes = [...]int{0, 1, 3, 4}

// runHist runs this program as hist. An answer of hist's is no error, whichever it is.
func runHist(ctx context.Context, args []string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	c := exec.CommandContext(ctx, self, args[1:]...)
	c.Args[0] = "hist"
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	c.WaitDelay = killDelay
	err = c.Run()
	if ended, ok := err.(*exec.ExitError); ok && ended.Exited() && slices.Contains(answerCodes[:], ended.ExitCode()) && ctx.Err() == nil { //nolint:errorlint // as Run returns it
		return nil
	}
	return err
}

// note writes one line to the log: that an app-server is not watched, and why.
func note(caller, asked, why string) {
	a := newAsker()
	a.decided(decisions.Decision{Via: "argv", Caller: caller, Asked: strings.Fields(asked), Why: why})
}
