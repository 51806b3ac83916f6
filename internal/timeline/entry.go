package timeline

import (
	"time"

	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/lint"
)

// Kind is what an entry is about.
type Kind uint8

// The kinds of entries.
const (
	TurnStart  Kind = iota // a turn begins: everything up to its TurnEnd belongs to it
	TurnEnd                // its last entry, even if it never ended: see State
	Prompt                 // somebody asked something
	Answer                 // the model said something
	Call                   // the model called a tool
	Output                 // an output whose call is not open: it came too late, or has no call
	Compaction             // the history was replaced by a shorter one
	Rollback               // turns were taken back
	Finding                // lint found something here
	Settings               // the working directory or the model changes here
	Note                   // a script told the model something while it ran
	Thought                // what the model thought, where the provider lets it be read
)

var kindNames = [...]string{"turn start", "turn end", "prompt", "answer", "call", "output", "compaction", "rollback", "finding", "settings", "note", "reasoning"}

// String names the kind in words.
func (k Kind) String() string { return kindNames[k] }

// TurnState is how a turn ended, if it did. Its text is what reports print.
type TurnState string

// The states of a turn.
const (
	NoTurn      TurnState = "none"        // nobody has asked anything yet
	Open        TurnState = "open"        // it never ended
	Completed   TurnState = "completed"   // the client says so; of a client that does not (Codex before 0.100): it was answered
	Failed      TurnState = "failed"      // it ended with an error
	Interrupted TurnState = "interrupted" // the user or the client stopped it
	Unanswered  TurnState = "unanswered"  // nothing came after the prompt; only for clients that do not record the ends of turns
	Running     TurnState = "running"     // it is still running
)

// Entry is one thing that happened.
type Entry struct {
	Kind   Kind
	Pos    session.Pos
	Offset int64     // where its line begins in the uncompressed file, in bytes
	Time   time.Time // UTC; zero if the record does not say
	Turn   int       // from 1; 0 outside of turns
	Unsent bool      // the client does not send it any more: it was taken back, left or compacted away; of a TurnStart, nothing of the turn

	// Prompt, Answer, Thought. Text is empty unless content was asked for.
	Chars  int
	Images int
	Text   string

	// Call, Output
	Tool, CallID string
	Within       string // the call_id of the script that made this call, "" if the model made it itself
	Answered     bool   // its output came, or none is expected
	Outcome      session.Outcome
	Asked, Got   string // arguments and output, shortened; empty unless content was asked for
	open         bool   // its output may still come
	script       bool   // it runs a script, or waits for one

	// TurnEnd
	State  TurnState
	Detail string        // the client's name for the error, or why the turn was interrupted
	Error  string        // the client's message about the error
	Calls  int           // how many calls the turn made; for a Rollback: how many turns it took back
	Took   time.Duration // 0 if not known

	// Finding
	Finding *lint.Finding

	// Settings
	CWD, Model string
}
