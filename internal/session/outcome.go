package session

import "time"

// CallState is how a tool call came out.
type CallState uint8

// How a call came out, as far as its output and other records say.
const (
	Untold    CallState = iota // answered, but nothing says how it went
	Succeeded                  // exit code 0, or the client says so
	Failed                     // another exit code, or the client says so
	Running                    // the command still runs in the background
	Aborted                    // the user or the client stopped it
	StoodIn                    // hist put in a stand-in for the output: what the call did is not known
)

var callStateNames = [...]string{"answered", "ok", "failed", "running", "aborted", "unknown"}

// String is the state in one word.
func (s CallState) String() string { return callStateNames[s] }

// Outcome is how a tool call came out.
type Outcome struct {
	State CallState
	Exit  string        // the exit code, "" if none is known
	Took  time.Duration // as the client measured it, 0 if it does not say
}

// Or fills from other what o does not know.
func (o Outcome) Or(other Outcome) Outcome {
	if o.State == Untold {
		o.State = other.State
	}
	if o.Exit == "" {
		o.Exit = other.Exit
	}
	if o.Took == 0 {
		o.Took = other.Took
	}
	return o
}

// Class is what kind of error ended a turn, for whoever has to decide what to do next.
type Class string

// The classes of errors.
const (
	Transient  Class = "transient"   // it is temporary: the same thread can go on
	Limit      Class = "limit"       // of usage, or of the model's context
	Auth       Class = "auth"        // the user is not signed in, or not allowed to
	BadRequest Class = "bad_request" // the history itself is refused, and will be again
	Unknown    Class = "unknown"
)

// Ending is how the client says that a turn ended.
type Ending struct {
	Aborted bool          // the user or the client stopped it
	Reason  string        // why it was stopped, "" if that is not known
	Error   string        // the client's name for the error that it ended with, "" if it ended without one
	Message string        // what the client says about that error
	Took    time.Duration // 0 if that is not known
}
