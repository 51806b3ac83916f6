package source

import (
	"context"
	"time"
)

// grace is how long work may go on to find out for itself that its context has ended.
const grace = 100 * time.Millisecond

// Promptly does work and returns its result. If the context ends first, it waits for the work a moment longer, and then leaves it to itself
// and returns the context's error: some rules go over all records of a session before they look at their context. So the work
// must change nothing that others use. Promptly panics as the work does.
func Promptly[T any](ctx context.Context, work func() (T, error)) (T, error) {
	if ctx.Done() == nil {
		return work()
	}
	done := make(chan func() (T, error), 1) // returns what the work returned, or panics as it did
	go func() {
		defer func() {
			if p := recover(); p != nil {
				done <- func() (T, error) { panic(p) }
			}
		}()
		value, err := work()
		done <- func() (T, error) { return value, err }
	}()
	select {
	case end := <-done:
		return end()
	case <-ctx.Done():
	}
	select {
	case end := <-done:
		return end()
	case <-time.After(grace):
		var none T
		return none, ctx.Err()
	}
}
