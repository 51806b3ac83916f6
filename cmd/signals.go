package cmd

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// afterSignal is what a shell adds to the number of the signal that ended a command.
const afterSignal = 128

// signalled is why a context was cancelled: this signal came.
type signalled struct{ number syscall.Signal }

func (s signalled) Error() string { return "signal: " + s.number.String() }

// exitCode is what a shell makes of it.
func (s signalled) exitCode() int { return afterSignal + int(s.number) }

// untilSignalled returns a context that the first signal to end cancels; its cause is a signalled.
func untilSignalled(parent context.Context) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	list := []os.Signal{syscall.SIGINT, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as nohup does
		list = append(list, syscall.SIGHUP)
	}
	came := make(chan os.Signal, 1)
	signal.Notify(came, list...)
	go func() {
		select {
		case s := <-came:
			number, _ := s.(syscall.Signal)
			cancel(signalled{number})
			signal.Stop(came) // a second one ends the program at once, wherever it is
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(came)
		cancel(context.Canceled)
	}
}
