// Package inuse says whether a process has a file open, and keeps others from opening it. It knows no agent and no lock
// of one.
package inuse

import "errors"

// ErrBusy: somebody uses the session right now. Every *Busy is one.
var ErrBusy = errors.New("the session is in use")

// Busy says who or what is using a session.
type Busy struct {
	Reason string // a clause: "process 4711 has the file open"
	PID    int    // of the process in the way, 0 if not known
	Lock   string // the lock file that it holds, "" if it is not known by a lock
}

// Error names the reason.
func (b *Busy) Error() string { return ErrBusy.Error() + ": " + b.Reason }

// Is makes errors.Is(b, ErrBusy) true.
func (b *Busy) Is(target error) bool { return target == ErrBusy }
