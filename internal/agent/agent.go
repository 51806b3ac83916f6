package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/inuse"
	"github.com/hist-cli/hist/internal/session"
)

// Agent is one program that writes sessions. Its methods may be called from several goroutines.
type Agent interface {
	// Name is the agent's name in reports and in JSON: lower case, stable for ever.
	Name() string
	// Title is the name as its makers write it, for sentences.
	Title() string

	// Claims says whether the agent wrote a session, by the base name of its file ("" if it has none) and its first
	// bytes, decoded to UTF-8. It is asked with a nil head first: then the name alone must be enough. Damage may have
	// struck the head: what is looked for should be found behind a torn first line, too.
	Claims(base string, head []byte) bool
	// ReadName is what the name of a session's file tells. InHome is left to the caller.
	ReadName(base string) check.Name
	// NewName is the base name of a session's file that begins now under a thread's id; "" if the id is none.
	NewName(now time.Time, thread string) string

	// Decoder tells what the agent's lines mean.
	Decoder() session.Decoder
	// NewHistory settles what of one session is sent.
	NewHistory() check.History
	// NewCheckers makes the checkers of one session, in the order in which they see each record. run.History() is what
	// NewHistory made.
	NewCheckers(run *check.Run) []check.Checker
	// Rules are all rules that its checkers report, in the order in which they are documented. The framing rules and
	// corrupt-zst, which every agent has, are not among them.
	Rules() []*finding.Rule
	// Effect is what the agent's client of a version, "" is the newest known, does with damage by a rule that agents share:
	// its usual impact, and sentences in which "it" is the client; "" where the damage can't befall its sessions.
	Effect(rule *finding.Rule, version string) (finding.Impact, string)

	// Words reads what records say, for those who show a session.
	Words() Words
	// About reads who a session is from its first bytes.
	About(head []byte) About

	// NewLinks keeps one session's ties right in a repair.
	NewLinks(about session.Info) Links

	// Resume is the command that goes on with a thread, word by word; nil if no client takes such an id: it is printed to
	// be pasted into a shell.
	Resume(thread string) []string
	// Explain finds what the text of an error means with which a resume failed; nil if nothing is known.
	Explain(text string) *Meaning
}

// About is what the first bytes of a session tell.
type About struct {
	Info    session.Info
	Created time.Time // zero if it does not say
	// Fault is why the agent can't read who the session is, "" if it can.
	Fault string
}

// Words reads what one record says. A method is asked only about records of the kinds that it names.
type Words interface {
	// Time is when a record was written, zero if it does not say.
	Time(rec *session.Record) time.Time
	// Tool is the name of the tool that a Call asks for, Asked what it gives it. A Message is asked about, too, where
	// Calls says that it is a call which the model's provider ran itself.
	Tool(rec *session.Record) string
	Asked(rec *session.Record) string
	Calls(rec *session.Record) bool
	// Got is the text of an Output, Outcome how its call came out; of that Evidence tells, too.
	Got(rec *session.Record) string
	Outcome(rec *session.Record) session.Outcome
	// Message is the words of a Message, and the number of its images.
	Message(rec *session.Record) (text string, images int)
	// Place is the working directory and the model that a Context names, or an answer or a call of the model; each is "" if
	// the record does not name it.
	Place(rec *session.Record) (cwd, model string)
	// Ending is how a TurnEnd says that the turn ended. Class sorts its error, by its name and its message.
	Ending(rec *session.Record) session.Ending
	Class(name, message string) session.Class
	// TurnsBack is how many turns a Rollback takes back.
	TurnsBack(rec *session.Record) int
	// Script says whether a Call runs a script that makes calls of its own, or waits for one. Within is such a call as
	// Evidence tells it; ok is false for other evidence.
	Script(rec *session.Record) bool
	Within(rec *session.Record) (tool, asked string, ok bool)

	// Era is what the clients of a version do not write.
	Era(version string) Era
	// TurnMark is a line that begins a turn. It is put in front of the end of a session that is read without its head.
	TurnMark() []byte
}

// Era is what the clients of a version leave unsaid.
type Era struct {
	Turns  bool // where turns begin and end: a prompt begins one
	Errors bool // that a turn ended with an error: one without an answer did
}

// Links keeps what ties records together while a repair adds, removes and moves records: numbers that count up, or
// parents that are named. Records come in the order of the copy.
type Links interface {
	// Steady says whether records to come keep their bytes unless an edit changes them: then they need not be shown.
	Steady() bool
	// Keep returns the line of a record that stays, as it must stand in the copy on the given line.
	Keep(line []byte, copyLine int64) ([]byte, error)
	// Insert returns the line of a new record.
	Insert(line []byte) []byte
	// Remove says that a record leaves its place, or a dead line the session.
	Remove(line []byte)
	// Renumber is what an edit with finding.Renumber asks for: from the next record on everything is numbered anew.
	Renumber()
	// Changed is how many lines Keep has changed, and the first and the last of them in the copy.
	Changed() (count, first, last int64)
}

// Comparer is Links that can tell a line that Keep has changed from one that was changed otherwise. Without it such a line
// counts as edited where a repair takes several passes.
type Comparer interface {
	// Same says whether two lines differ in nothing but what Keep changes.
	Same(was, is []byte) bool
}

// Reidentifier is an agent whose session says inside which thread it is.
type Reidentifier interface {
	// Reidentify makes a header that of a new thread, forked from the old one.
	Reidentify(header []byte, old session.Info, thread string) []byte
	// IsHeader says whether a line that a repair inserts is a header.
	IsHeader(line []byte) bool
}

// Parter is an agent that keeps parts of a session in files of their own.
type Parter interface {
	// Part says whether a file is one: a sub-agent's conversation, which belongs to the session that began it.
	Part(path string) bool
}

// Unnoticed is an agent some of whose clients leave no sign that they have a session open.
type Unnoticed interface {
	// Unnoticed says whether those of a version do: whether a session that one of them wrote is in use can't be told.
	Unnoticed(version string) bool
}

// Branched is an agent whose sessions are trees: its client goes on with one branch of several.
type Branched interface {
	// Branched does nothing.
	Branched()
}

// Archiver is an agent with an archive, from which it does not resume.
type Archiver interface {
	// Archived says whether a directory, by its real path, lies in the archive of a home; "" is any home that the path
	// itself tells.
	Archived(home, dir string) bool
	// NewDir is the directory of a home in which a session lies that begins now.
	NewDir(home string, now time.Time) string
	// Unarchive is the command that takes a thread out of it, and why that is needed.
	Unarchive(thread string) (command []string, why string)
}

// Outlined is an agent whose records may be shown in outline where their words may not.
type Outlined interface{ Outline() *Outline }

// Outline is what a format has of its own. Any other text may be someone's word.
type Outline struct {
	Values map[string]bool // members of a record, or of its body, whose text is technical
	Keys   map[string]bool // further members
	Types  map[string]bool // what a member "type" deeper in a record may say
	Body   string          // the member that holds what a record is about
}

// Set is words as an Outline holds them.
func Set(words ...string) map[string]bool {
	m := make(map[string]bool, len(words))
	for _, w := range words {
		m[w] = true
	}
	return m
}

// Dated is an agent whose older clients can't read every session of newer ones.
type Dated interface {
	// TooOld says why the client of a version can't read a session, "" if it can.
	TooOld(version string, about session.Info, compressed bool) string
}

// Homed is an agent that keeps its sessions in a home of its own.
type Homed interface {
	Agent
	// DefaultHome is the home's absolute path, whether it exists or not.
	DefaultHome() (string, error)
	// Sessions are the directories of a home that hold sessions and exist, the live one first.
	Sessions(home string) []string
	// Lists are the JSONL files of a home, there or not, that the client keeps beside the sessions: the prompts that were
	// typed, the names of threads.
	Lists(home string) []string
	// Live is the directory of a home that sessions are resumed from, "" if it is not there; LiveAt is where it is or will be.
	Live(home string) string
	LiveAt(home string) string
	// Folder is where in a home sessions are resumed from, for sentences: "sessions/".
	Folder() string
	// HomeAbove is the home that an absolute path lies in, told by the names of the folders above it; "" if in none.
	HomeAbove(path string) string
	// Find returns the files of the sessions in a home that an id, or the beginning of one, names. Named returns the ids
	// of the threads that users named so.
	Find(ctx context.Context, home, id string) ([]string, error)
	Named(home, name string) ([]string, error)
	// InUse says who uses a session, nil if nobody is known to. Asking says whether the agent that works in a thread has
	// run this process.
	InUse(path, home, thread string) (*inuse.Busy, error)
	Asking(thread string) bool
	// Lock takes a thread's lock until release is called; the error is inuse.ErrBusy if somebody else has it.
	Lock(home, thread string) (release func(), err error)
}

// Bounded is an agent of which it is known what its findings hang on: a session's own bytes, and some of its home. What is
// found by it may be kept, and told again as long as none of that changes. Nothing else may decide about a finding, neither
// a file nor the time; what looks around says so by check.Options.Asked, or as check.Kept does by its method Further.
type Bounded interface {
	// HangsOn are the files of a home that every session of it hangs on, whether they are there or not; none where there is
	// no home.
	HangsOn(home string) []string
	// Around are the files and directories, with all that is in them, where a session of a home may look for what it has
	// lost.
	Around(home string) []string
}

// Inspected is an agent of whose sessions something is said that stands in none of them.
type Inspected interface {
	// Inspect looks at a home as a whole.
	Inspect(home string) []Said
}

// Local is an agent some of whose clients find a session only from the directory that it was begun in.
type Local interface {
	// OnlyInPlace says whether the client of a version is such a one.
	OnlyInPlace(version string) bool
}

// Retaining is an agent whose client deletes sessions by the time of their files.
type Retaining interface {
	// Due says, in a sentence, that the client may delete a session; "" if it does not.
	Due(path string) string
}

// Said is said of a session, which need not be there.
type Said struct {
	Path    string // of its file, below the home as it was given
	Finding finding.Finding
}

// Continuer is an agent whose client itself finds the last session of a directory.
type Continuer interface {
	// Last is the file of the session of a home that the client goes on with in a directory when it is asked for the last
	// one; of all directories if cwd is "". It is "" if there is none, and the client begins a new session.
	Last(ctx context.Context, home, cwd string) (path string, err error)
}

// ErrUnclaimed: no agent that hist knows wrote this.
var ErrUnclaimed = errors.New("no agent that hist knows wrote this")

// Unclaimed is an ErrUnclaimed that says which program's session it looks like, "" if like none.
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
