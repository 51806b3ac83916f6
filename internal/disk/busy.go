package disk

import "errors"

// ErrBusy says that a process is using the session right now. errors.Is holds for every *Busy.
var ErrBusy = errors.New("the session is in use")

// Busy says which process is using a session, as far as that is known.
type Busy struct {
	Reason string // a clause: "process 4711 has the file open"
	PID    int    // the process's id, 0 if not known
	Lock   string // the lock file by which it was found, "" if it was found without one
	// Free is the command, word by word, that makes the process give the session up, if that is a server which the agent's own
	// client joins: then a person's resume goes on, and only one by a process of its own is refused. Otherwise it is nil.
	Free []string
}

// Error names the reason.
func (b *Busy) Error() string { return ErrBusy.Error() + ": " + b.Reason }

// Is makes errors.Is(b, ErrBusy) true.
func (b *Busy) Is(target error) bool { return target == ErrBusy }
