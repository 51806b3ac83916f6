package finding

import "fmt"

// Impact is what damage does to the agent's client, or to the conversation.
type Impact uint8

// The impacts, from harmless to fatal. Loses and Rejects count as equal when they are compared with a threshold.
const (
	Notes   Impact = iota // nothing is lost; worth knowing
	Shows                 // the model is sent all of the history, but the client shows it wrongly
	Loses                 // the client resumes but drops, replaces or repeats part of the history
	Rejects               // the client resumes, the model API refuses what it sends
	Blocks                // the client refuses to resume
)

// Impacts are all of them, from harmless to fatal.
var Impacts = []Impact{Notes, Shows, Loses, Rejects, Blocks}

var impactNames = [...]string{"notes", "shows", "loses", "rejects", "blocks"}

// String is the impact's name, as it is printed and as --fail-on takes it.
func (i Impact) String() string { return impactNames[i] }

var impactMeanings = [...]string{
	"nothing is lost; worth knowing", "the model is sent all of the history, but the client shows it wrongly",
	"the client resumes, but drops, replaces or repeats a part of the history", "the client resumes, and the model's API refuses what it sends",
	"the client refuses to resume",
}

// Meaning says what the impact means, in a clause.
func (i Impact) Meaning() string { return impactMeanings[i] }

// ParseImpact reads an impact's name.
func ParseImpact(s string) (Impact, error) {
	for i, name := range impactNames {
		if s == name {
			return Impact(i), nil
		}
	}
	return 0, fmt.Errorf("unknown impact %q: want blocks, loses, rejects, shows or notes", s)
}

// AtLeast says whether i reaches the threshold t. Loses and Rejects are equal here.
func (i Impact) AtLeast(t Impact) bool {
	if t == Rejects {
		t = Loses
	}
	return i >= t
}

// Fix is how much a repair of a finding can promise.
type Fix uint8

// The classes of fix.
const (
	NoFix     Fix = iota // reported only
	Exact                // bytes are moved or decoded, or padding is removed; nothing is invented and nothing is lost
	Recovered            // the missing content was found elsewhere and put back
	StandIn              // an honest placeholder says that the content is gone
	SetAside             // what can't be kept leaves the session, and the run's record holds it
)

var fixNames = [...]string{"none", "exact", "recovered", "stand-in", "set-aside"}

// String is the fix's name, as it is printed and as --only takes it.
func (f Fix) String() string { return fixNames[f] }

var fixMeanings = [...]string{
	"it is only reported", "bytes are moved or decoded; nothing is invented, and nothing that can be read is lost", "the lost content was found elsewhere, and is put back",
	"a placeholder tells the model that the content is lost", "what can't be kept leaves the session, and the record of the run keeps it",
}

// Meaning says what a repair of this kind does, in a clause.
func (f Fix) Meaning() string { return fixMeanings[f] }

// ParseFix reads a fix's name.
func ParseFix(s string) (Fix, error) {
	for i, name := range fixNames {
		if s == name && i > 0 {
			return Fix(i), nil
		}
	}
	return 0, fmt.Errorf("unknown fix %q: want exact, recovered, stand-in or set-aside", s)
}

// Rule is one kind of damage. Its documentation is generated from it. Impact and Fix are the usual ones; a finding has its
// own. Title and Text come from a page (Texts).
type Rule struct {
	Name   string // kebab-case, stable for ever
	Family string // the page it is documented on
	Impact Impact
	Fix    Fix
	Title  string // one line
	Text   string // what the client does with it, what repair does
	Tidy   bool   // each line is harmless by itself, so one finding counts all of a file
	Rows   bool   // where many lines in a row are dead by it, one finding counts all but the first
	Empty  bool   // the file holds no conversation: nothing can be resumed, even where its client has left it so
	ByName bool   // it may be meant: a note of it is a warning before a resume, and repaired only where the rule is named
	Always bool   // the loss does not depend on what is still sent to the model
	Home   bool   // only looked for in sessions that lie in an agent's home, because other files show it
	// Restart is what a finding tells the restart card.
	Restart RestartFact
}

// RestartFact is something that happened around a restart of the agent.
type RestartFact uint8

// The facts.
const (
	NoRestart       RestartFact = iota
	WentOn                      // the session goes on here, after a turn that was cut off
	StaleWake                   // a message that woke the agent before the restart came again
	FailedInSandbox             // commands failed that might have worked outside of the sandbox
	NotSaved                    // the turn ended without the call that saves the work
)
