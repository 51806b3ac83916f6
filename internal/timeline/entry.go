package timeline

import (
	"time"

	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/lint"
)

// Kind is what an entry tells of.
type Kind uint8

// The kinds of entries.
const (
	TurnStart  Kind = iota // a turn begins: everything up to its TurnEnd belongs to it
	TurnEnd                // it ends, or never did: see State
	Prompt                 // somebody asked something
	Answer                 // the model said something
	Call                   // the model called a tool
	Output                 // an output came whose call is not open: too late, or without a call
	Compaction             // the history was replaced by a shorter one
	Rollback               // turns were taken back
	Finding                // lint found something here
	Settings               // the working directory or the model is another from here on
	Note                   // a script told the model something while it ran
)

var kindNames = [...]string{"turn start", "turn end", "prompt", "answer", "call", "output", "compaction", "rollback", "finding", "settings", "note"}

// String names the kind in words.
func (k Kind) String() string { return kindNames[k] }

// TurnState is how a turn stands. Its text is what reports print.
type TurnState string

// The states of a turn.
const (
	NoTurn      TurnState = "none"        // nobody has asked anything yet
	Open        TurnState = "open"        // it never ended
	Completed   TurnState = "completed"   // the client says so; before 0.100: it was answered
	Failed      TurnState = "failed"      // it ended with an error
	Interrupted TurnState = "interrupted" // the user or the client stopped it
	Unanswered  TurnState = "unanswered"  // asked, and nothing came; where clients tell of ends, too, its turn is another state
	Running     TurnState = "running"     // it runs now
)

// Entry is one thing that happened.
type Entry struct {
	Kind   Kind
	Pos    session.Pos
	Offset int64     // bytes, of its line in the uncompressed file
	Time   time.Time // UTC; zero if the record does not say
	Turn   int       // from 1; 0 outside of turns

	// Prompt, Answer: how long it is. Text is empty unless content was asked for.
	Chars  int
	Images int
	Text   string

	// Call, Output
	Tool, CallID string
	Within       string // the call_id of the script that made this call, "" if the model made it itself
	Answered     bool   // its output came, or nothing has to come
	Outcome      session.Outcome
	Asked, Got   string // arguments and output, cut short; empty unless content was asked for
	open         bool   // its output may still come
	script       bool   // it runs a script, or waits for one

	// TurnEnd
	State  TurnState
	Detail string        // the client's name for the error, or why the turn was interrupted
	Error  string        // what the client says of the error
	Calls  int           // how many calls the turn made
	Took   time.Duration // 0 if nothing tells

	// Finding
	Finding *lint.Finding

	// Settings
	CWD, Model string
}
