package agent

import (
	"time"

	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/session"
)

// Agent is one program that writes sessions. Its methods may be called from several goroutines. What only some agents
// can do are interfaces of their own, in optional.go, found by assertion.
type Agent interface {
	// Name is the agent's name in reports and in JSON: lower case, stable for ever.
	Name() string
	// Title is the name as its makers write it, for sentences.
	Title() string

	// Claims says whether the agent wrote a session, judging by the base name of its file ("" if it has none) and by its
	// first bytes, decoded to UTF-8. It is first asked with a nil head: then the name alone must be enough. The head may be
	// damaged, so what Claims looks for should also be found behind a torn first line.
	Claims(base string, head []byte) bool
	// ReadName returns what the name of a session's file says. It leaves InHome to the caller.
	ReadName(base string) check.Name
	// NewName is the base name for the file of a session that begins now, in the thread with this id; "" if the id is none.
	NewName(now time.Time, thread string) string

	// Decoder reads the agent's lines.
	Decoder() session.Decoder
	// NewHistory works out which records of one session are sent to the model.
	NewHistory() check.History
	// NewCheckers makes the checkers of one session, in the order in which they see each record. run.History() is the
	// value that NewHistory made.
	NewCheckers(run *check.Run) []check.Checker
	// Rules are all rules that the agent's checkers report, in the order in which they are documented. They do not
	// include the framing rules and corrupt-zst, which every agent has.
	Rules() []*finding.Rule
	// Effect says what a version of the agent's client ("" is the newest one known) does with damage by a rule that agents
	// share: the usual impact, and sentences in which "it" is the client. The text is "" if the agent's sessions can't
	// have this damage.
	Effect(rule *finding.Rule, version string) (finding.Impact, string)

	// Words reads what records say, for commands that show a session.
	Words() Words
	// About reads from a session's first bytes which session it is.
	About(head []byte) About

	// NewLinks keeps the numbers or parents of one session's records right during a repair.
	NewLinks(about session.Info) Links

	// Resume is the command, word by word, that resumes a thread. It is printed for users to paste into a shell, so it is
	// nil if no client takes such an id.
	Resume(thread string) []string
	// Explain says what an error means with which a resume failed, judging by its text; nil if it is not known.
	Explain(text string) *Meaning
}

// About is what a session's first bytes say of it.
type About struct {
	Info    session.Info
	Created time.Time // zero if they do not say
	// Fault is why the agent can't read which session this is, "" if it can, and Rule the one that such a file breaks.
	Fault string
	Rule  *finding.Rule
}

// Words reads what one record says. A method is only asked about records of the kinds that its comment names.
type Words interface {
	// Time is when a record was written, zero if it does not say.
	Time(rec *session.Record) time.Time
	// Calls says whether a Message is in fact a tool call that the model's provider ran itself.
	Calls(rec *session.Record) bool
	// Tool is the name of the tool that a Call asks for, and Asked is what it passes to the tool. Both are also asked about
	// a Message for which Calls is true.
	Tool(rec *session.Record) string
	Asked(rec *session.Record) string
	// Got is the text of an Output.
	Got(rec *session.Record) string
	// Outcome is how a call came out, as its Output or an Evidence says.
	Outcome(rec *session.Record) session.Outcome
	// Message is the text of a Message, and the number of its images.
	Message(rec *session.Record) (text string, images int)
	// Place is the working directory and the model that a Context, an answer or a call of the model names; each is "" if
	// the record does not name it.
	Place(rec *session.Record) (cwd, model string)
	// Ending is how a TurnEnd says that the turn ended, and Class is the kind of its error, by the error's name and message.
	Ending(rec *session.Record) session.Ending
	Class(name, message string) session.Class
	// TurnsBack is how many turns a Rollback takes back.
	TurnsBack(rec *session.Record) int
	// Script says whether a Call runs a script that makes calls of its own, or waits for such a script. Within is a call
	// that a script made, as an Evidence has it; ok is false for any other evidence.
	Script(rec *session.Record) bool
	Within(rec *session.Record) (tool, asked string, ok bool)

	// Era is what clients of a version do not write.
	Era(version string) Era
	// TurnMark is a line that begins a turn. It is put in front of the end of a session that is read without its head.
	TurnMark() []byte
}

// Era is what clients of a version do not write.
type Era struct {
	Turns  bool // they do not write where turns begin and end: a prompt begins one
	Errors bool // they do not write that a turn ended with an error: a turn without an answer did
}

// Links keeps what ties records together right while a repair adds, removes and moves records: ordinals that count up, or
// the names of parents. Its methods are called in the order of the repaired copy.
type Links interface {
	// Steady says that the records to come keep their bytes unless an edit changes them. Then Keep need not see them.
	Steady() bool
	// Keep returns the line of a record that stays, as it must stand on the given line of the copy.
	Keep(line []byte, copyLine int64) ([]byte, error)
	// Insert returns the line of a new record.
	Insert(line []byte) []byte
	// Remove says that a record leaves its place, or a dead line leaves the session.
	Remove(line []byte)
	// Renumber numbers everything anew from the next record on. An edit with finding.Renumber asks for it.
	Renumber()
	// Changed is how many lines Keep has changed, and which lines of the copy are the first and the last of them.
	Changed() (count, first, last int64)
}

// Leaver is a Links that must know of the records that stay unreadable: lint may still read in them what a repair that was not chosen
// would make of them.
type Leaver interface {
	// Leave says that a record stays unreadable.
	Leave(line []byte)
}

// Targeted is a Links that numbers for the client that will resume the session.
type Targeted interface {
	// For names the client's version.
	For(version string)
}

// Comparer is a Links that can tell a line that only Keep has changed from one that an edit has changed. Without it, a
// repair of several passes counts a line that Keep has changed as edited.
type Comparer interface {
	// Same says whether two lines differ only in what Keep changes.
	Same(was, is []byte) bool
}
