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

// asker has hist look at sessions, and keeps the log.
type asker struct {
	log func(decisions.Decision)
	run func(ctx context.Context, args []string) error

	later chan func() // done one after the other
}

// maxLater is how many lines of the log may wait to be written; what comes beyond it is not logged.
const maxLater = 64

func newAsker() *asker {
	a := &asker{
		log:   func(d decisions.Decision) { decisions.Append(d) }, //nolint:errcheck // nobody is there to be told
		run:   runHist,
		later: make(chan func(), maxLater),
	}
	go func() {
		for do := range a.later {
			do()
		}
	}()
	return a
}

// eventually does something behind the messages' back.
func (a *asker) eventually(do func()) {
	select {
	case a.later <- do:
	default:
	}
}

// written is closed when all is done that was to be done until now.
func (a *asker) written() <-chan struct{} {
	done := make(chan struct{})
	go func() { a.later <- func() { close(done) } }()
	return done
}

// goodbye is how long the relay stays for its log when all else is done.
const goodbye = 500 * time.Millisecond

// finish waits for the log to be written, for a moment.
func (a *asker) finish() {
	select {
	case <-a.written():
	case <-time.After(goodbye):
	}
}

// look has hist look at the thread that a message names, and repair it. It returns when that is done, or when it took too
// long. hist writes the log itself, if it can.
func (a *asker) look(r *request, caller string) {
	began := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), front.Timeout())
	defer cancel()
	err := a.run(ctx, front.Question(r.Method, "--quiet", "--caller", caller, "--", r.Params.Thread))
	if err == nil {
		return
	}
	why := "hist could not look: " + err.Error()
	if ctx.Err() != nil {
		why = "hist took too long to look"
	}
	a.eventually(func() {
		a.decided(decisions.Decision{Via: r.Method, Caller: caller, Asked: []string{r.Params.Thread}, Used: r.Params.Thread, Why: why, Millis: time.Since(began).Milliseconds()})
	})
}

// started logs that a new thread was begun, and which one could have been used instead: lost, if it is known, else what
// hist finds in the directory.
func (a *asker) started(r *request, caller, lost, used, why string) {
	a.eventually(func() {
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

// grace is how long a hist that took too long has to end by itself.
const grace = 500 * time.Millisecond

// verdicts are the exit codes by which hist answers. Any other says that it failed, or was not asked rightly: then nobody
// has looked.
var verdicts = [...]int{0, 1, 3, 4}

// runHist runs this program as hist. That it has an answer, whichever, is no error.
func runHist(ctx context.Context, args []string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	c := exec.CommandContext(ctx, self, args[1:]...)
	c.Args[0] = "hist"
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	c.WaitDelay = grace
	err = c.Run()
	if ended, ok := err.(*exec.ExitError); ok && ended.Exited() && slices.Contains(verdicts[:], ended.ExitCode()) && ctx.Err() == nil { //nolint:errorlint // as Run returns it
		return nil
	}
	return err
}

// note writes a line to the log and nothing else: that something was not watched, and why.
func note(caller, asked, why string) {
	a := newAsker()
	a.decided(decisions.Decision{Via: "argv", Caller: caller, Asked: strings.Fields(asked), Why: why})
}
