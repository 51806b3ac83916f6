package agent

import (
	"errors"
	"fmt"
)

// What callers of Homed.Find must tell apart; test with errors.Is.
var (
	// ErrBadID says that the text cannot be a thread id or the beginning of one.
	ErrBadID = errors.New("not a session id")
	// ErrNoSession says that no file carries the id in its name.
	ErrNoSession = errors.New("no session with this id")
	// ErrShut says that no file was found for the id, but that not every folder may be looked into.
	ErrShut = errors.New("it is not known whether there is a session with this id")
	// ErrAmbiguous says that several threads begin with the id.
	ErrAmbiguous = errors.New("several sessions begin with this id")
)

// AmbiguousError is ErrAmbiguous, and says which.
type AmbiguousError struct {
	ID    string
	Paths []string // one a thread
}

// Error asks for more of the id.
func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%s: %v (%d of them): give more of it", e.ID, ErrAmbiguous, len(e.Paths))
}

// Is says that it is ErrAmbiguous.
func (e *AmbiguousError) Is(target error) bool { return target == ErrAmbiguous }

// LeftError is ErrNoSession where something of the session is left, and says what.
type LeftError struct{ ID, Left string }

// Error says so.
func (e *LeftError) Error() string { return fmt.Sprintf("%s: %v; %s", e.ID, ErrNoSession, e.Left) }

// Is says that it is ErrNoSession.
func (e *LeftError) Is(target error) bool { return target == ErrNoSession }

// ErrUnclaimed says that no agent that hist knows wrote this.
var ErrUnclaimed = errors.New("no agent that hist knows wrote this")

// Unclaimed is an ErrUnclaimed that names the program whose session it looks like; "" if it looks like none.
type Unclaimed struct{ Looks string }

// Error says so, and that the file is left alone.
func (e *Unclaimed) Error() string {
	if e.Looks == "" {
		return fmt.Sprintf("%v, and it looks like no session: it is left alone", ErrUnclaimed)
	}
	return fmt.Sprintf("%v; it looks like a session of %s, which this version does not read: it is left alone", ErrUnclaimed, e.Looks)
}

// Is makes errors.Is(err, ErrUnclaimed) true.
func (e *Unclaimed) Is(target error) bool { return target == ErrUnclaimed }
