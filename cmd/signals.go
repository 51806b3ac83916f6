package cmd

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// afterSignal is what a shell adds to a signal's number to make the exit code.
const afterSignal = 128

// signalled is the cause of a context that was cancelled by a signal.
type signalled struct{ number syscall.Signal }

func (s signalled) Error() string { return "signal: " + s.number.String() }

// exitCode is the exit code that a shell gives for the signal.
func (s signalled) exitCode() int { return afterSignal + int(s.number) }

// untilSignalled returns a context that the first signal cancels; its cause is a signalled.
func untilSignalled(parent context.Context) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	came := make(chan os.Signal, 1)
	signal.Notify(came, endings()...)
	go func() {
		select {
		case s := <-came:
			number, _ := s.(syscall.Signal)
			cancel(signalled{number})
			signal.Stop(came) // a second signal ends the program at once, whatever it is doing
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(came)
		cancel(context.Canceled)
	}
}

// endings are the signals that end the program. One that is to outlive its terminal (nohup) is not ended by that.
func endings() []os.Signal {
	list := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		list = append(list, syscall.SIGHUP)
	}
	return list
}
