package agent

import (
	"context"
	"time"

	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/disk"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/session"
)

// Agent is one program that writes sessions: what it can do, and nil for what it can't. Its functions may be called from
// several goroutines.
type Agent struct {
	// Name is the agent's name in reports and in JSON: lower case, stable for ever.
	Name string
	// Title is the name as its makers write it, for sentences.
	Title string

	// Claims says whether the agent wrote a session, judging by the base name of its file ("" if it has none) and by its
	// first bytes, decoded to UTF-8. It is first asked with a nil head: then the name alone must be enough. The head may be
	// damaged, so what Claims looks for should also be found behind a torn first line.
	Claims func(base string, head []byte) bool
	// ReadName returns what the name of a session's file says. It leaves InHome to the caller.
	ReadName func(base string) check.Name
	// NewName is the base name for the file of a session that begins now, in the thread with this id; "" if the id is none.
	NewName func(now time.Time, thread string) string

	// Decoder reads the agent's lines.
	Decoder session.Decoder
	// NewHistory works out which records of one session are sent to the model.
	NewHistory func() check.History
	// NewCheckers makes the checkers of one session, in the order in which they see each record. run.History() is the
	// value that NewHistory made.
	NewCheckers func(run *check.Run) []check.Checker
	// Rules are all rules that the agent's checkers report, in the order in which they are documented. They do not
	// include the framing rules and corrupt-zst, which every agent has.
	Rules []*finding.Rule
	// Effect says what a version of the agent's client ("" is the newest one known) does with damage by a rule that agents
	// share: the usual impact, and sentences in which "it" is the client. The text is "" if the agent's sessions can't
	// have this damage.
	Effect func(rule *finding.Rule, version string) (finding.Impact, string)
	// NewLinks keeps the numbers or parents of one session's records right during a repair. target is the version of the client
	// that will resume the session, "" if it is not known.
	NewLinks func(about session.Info, target string) Links
	// Branched: a session is a tree, and the client resumes one of several branches.
	Branched bool

	// Words reads what records say, for commands that show a session.
	Words Words
	// Typed is what the user typed of a prompt, "" if nothing; nil if the client writes prompts as they were typed.
	Typed func(prompt string) string
	// Thought is the text of a Message that holds what the model thought, "" if it holds nothing of that that can be read; nil
	// if no provider lets it be read.
	Thought func(rec *session.Record) string
	// Parts are what a record says, in its order, each as a record of its own at the same place; the record alone if that is
	// all. It is nil if no record says several things.
	Parts func(rec *session.Record) []session.Record
	// Outline is what may be shown of records where their text may not be shown; nil if nothing is known to be technical.
	Outline *Outline
	// About reads from a session's first bytes which session it is.
	About func(head []byte) About
	// Reidentify turns a header into that of a new thread, forked from the old one, and IsHeader says whether a line that a
	// repair inserts is a header. Both are nil if a session does not name its thread inside the file.
	Reidentify func(header []byte, old session.Info, thread string) []byte
	IsHeader   func(line []byte) bool
	// OfSubagent says whether another session's agent began a session, and Interactive whether a person did, and not a command
	// that runs one turn and ends, or another program. Both are nil if sessions do not say what began them.
	OfSubagent, Interactive func(about session.Info) bool
	// Part says whether a file is a part of a session that lies elsewhere: a sub-agent's conversation. It is nil if there are none.
	Part func(path string) bool
	// Roots counts the records among some lines, readable or not, that say of themselves that nothing stands above them. It is nil if no
	// record says that.
	Roots func(lines []byte) int

	// ReadSent is what the client of a version ("" is the newest one measured) sends when it resumes a session, whose text is
	// given whole and uncompressed. at says under which name it lies, and what is known beside it. It is pure: nothing is looked
	// up elsewhere. The items' Content points into text. It is nil if the client is not known well enough.
	ReadSent func(text []byte, at ReadAt, version string) (*session.Sent, error)
	// RuleFor is the name of the rule that finds what an API refuses, by that API and by the kind of what helps, both as
	// internal/api names them; "" if none does, nil if no rule does.
	RuleFor func(api, mend string) string
	// TriesAgain says whether the client of a version ("" is the newest one measured) takes out what an API refuses, by the kind
	// of what helps and by its row of internal/api's table, and sends the rest by itself; nil if none does.
	TriesAgain func(version, mend string, row int) bool

	// Resume is the command, word by word, that resumes a thread. It is printed for users to paste into a shell, so it is
	// nil if no client takes such an id.
	Resume func(thread string) []string
	// ResumeIn is the command that resumes a thread in a directory; nil if the client can't be told to.
	ResumeIn func(thread, dir string) []string
	// Subcommand says whether an argument of the client is a subcommand that keeps a thread open. Any other may be part of a
	// prompt. It is nil if the client has none.
	Subcommand func(arg string) bool
	// Explain says what an error means with which a resume failed, judging by its text; nil if it is not known.
	Explain func(text string) *Meaning
	// TooOld says why the client of a version can't read a session, "" if it can; nil if every client reads every session.
	TooOld func(version string, about session.Info, compressed bool) string
	// Unnoticed says whether clients of a version leave no sign that they have a session open: then nobody can tell whether a
	// session that such a client wrote is in use. It is nil if every client leaves one.
	Unnoticed func(version string) bool
	// OnlyInPlace says whether clients of a version find a session only from the directory in which it was begun; nil if none does so.
	OnlyInPlace func(version string) bool

	// Ended is the rule on a session that lacks its end.
	Ended *finding.Rule

	*Home
}

// Home is where an agent keeps its sessions: nil for one that has no directory of its own.
type Home struct {
	// Variable is the environment variable that says where the home is.
	Variable string
	// DefaultHome is the home's absolute path, whether it exists or not.
	DefaultHome func() (string, error)
	// Sessions are the directories of a home that hold sessions and exist. The one that sessions are resumed from is first.
	Sessions func(home string) []string
	// Lists are the JSONL files that the client keeps beside the sessions of a home, whether they exist or not: the
	// prompts that were typed, the names of threads.
	Lists func(home string) []string
	// Live is the directory of a home that sessions are resumed from, "" if it does not exist. LiveAt is where that
	// directory is or will be.
	Live, LiveAt func(home string) string
	// Folder is where in a home sessions are resumed from, for sentences: "sessions/".
	Folder string
	// HomeAbove is the home that an absolute path lies in, judging by the names of the folders above it; "" if in none.
	HomeAbove func(path string) string
	// Find returns the files of the sessions in a home that an id, or the beginning of one, names.
	Find func(ctx context.Context, home, id string) ([]string, error)
	// Named returns the ids of the threads that users gave this name; nil if they can give none.
	Named func(home, name string) ([]string, error)
	// Names are the names that users gave to threads, by their ids in lower case; nil if they can give none.
	Names func(home string) map[string]string
	// InUse says who uses a session, nil if nobody is known to.
	InUse func(path, home, thread string) (*disk.Busy, error)
	// StaleNote says which note on a session, in a file that its client keeps while it runs, is about a process that is gone, where
	// another one has its number now; "" if none is. It is nil if clients leave no such files.
	StaleNote func(home, thread string) string
	// Left are the files of a home by which clients say that they run that are gone: one that was killed leaves its own. It is nil
	// if clients leave none.
	Left func(home string) []string
	// TakesAny says whether the client, run by these arguments, takes for the last session also one that no person began, as
	// a command that runs one turn and ends does.
	TakesAny func(args []string) bool
	// Apart says whether the client, run by these arguments, joins no server of its own that has the session open. It is nil if
	// no version leaves one behind.
	Apart func(args []string) bool
	// Asking says whether this process was started by the agent while it works in the thread; nil if that can't be known.
	Asking func(thread string) bool
	// Lock takes a thread's lock until release is called. The error is disk.ErrBusy if somebody else has it. It is nil if the
	// client takes none.
	Lock func(home, thread string) (release func(), err error)
	// Last is the file of the session that the client resumes in a directory when a person asks it for the last one; with
	// any, when a command that runs one turn and ends does, which also takes those that such a command began. With cwd "", it is
	// the last one of all directories. It is "" if there is none, and the client begins a new session. Last is nil if the client
	// has a list of threads, or goes by the times of all files.
	Last func(ctx context.Context, home, cwd string, any bool) (path string, err error)
	// FolderFor is the folder of a home in which the client looks for a directory's sessions, whether it exists or not. The error
	// says why it can't be known. It is nil if the client looks into all folders.
	FolderFor func(home, cwd string) (string, error)
	// Placed are the files, whether they exist or not, in which the client keeps something by the directory of a project, each with what
	// makes it name directories as they are after a move: with threads, only where it is about these. It is nil if there are none.
	Placed func(home string, moved func(dir string) (now string, ok bool), threads []string) []Placed
	// Beside are the names of folders, among a directory's sessions, that belong to the directory.
	Beside []string
	// Doubles are the other files of a home that have the id of the session at path; nil if the client makes none.
	Doubles func(path, home string) []string
	// Strayed is the folder in which the client finds a copy of the session of a directory, if it does not look into that in which the file
	// at path lies; "" if it does, or nothing says. It is nil if the client looks everywhere.
	Strayed func(home, path, cwd string) string
	// Prompts are those that were typed in the sessions of a home, by the sessions' ids, each in the order of the list. It is nil if the
	// client keeps no list of them.
	Prompts func(home string) map[string][]Prompt
	// Due says, in a sentence, that the client may delete a session for its age; "" if it does not, nil if it never does.
	Due func(path string) string
	// Inspect are findings about a home as a whole, which are in no session; nil if there can be none.
	Inspect func(home string) []Said

	Archive *Archive // nil if there is none
	Bounds  *Bounds  // nil if it is not known what findings depend on
}

// Placed is a file that names directories.
type Placed struct {
	Path string
	Text func(data []byte) []byte
}

// Archive is what holds sessions of which an agent's client resumes none.
type Archive struct {
	// Archived says whether a directory, by its real path, is in the archive of a home; "" stands for any home that the
	// path itself shows.
	Archived func(home, dir string) bool
	// NewDir is the directory of a home for a session that begins now.
	NewDir func(home string, now time.Time) string
	// Unarchive is the command that takes a thread out of the archive, and why that is needed.
	Unarchive func(thread string) (command []string, why string)
}

// Bounds are the files of a home on which an agent's findings are known to depend, beside a session's own bytes. Findings may be
// cached for as long as none of that changes, so nothing else may decide about one: no other file, and not the time. A checker
// that looks around says so by check.Options.Asked, and a check.Kept by its method Further.
type Bounds struct {
	// Databases are those of a home that every session depends on, whether they exist or not; none if there is no home. It is nil
	// for an agent without any.
	Databases func(home string) []Database
	// Twins are the paths at which another file of the session with this name would count, whether there are any or not: that
	// there is none decides about each session. One that is there is looked at, which counts as looking around. It is nil if a
	// session has no second file.
	Twins func(home, base string) []string
}

// Database is a file of a home that holds rows of many sessions.
type Database struct {
	Home string
	// Files are the database and what lies beside it while it is written, whether they are there or not: nothing in it changes
	// unless one of them does.
	Files []string
	// Key is what a session's rows have in common, by the name of its file; "" if it can have none.
	Key func(base string) string
	// Whole: of what it holds of other sessions something may matter, too.
	Whole bool
}

// Said is a finding about a session whose file may not exist.
type Said struct {
	Path    string // of the session's file, below the home as it was given
	Finding finding.Finding
}

// ReadAt is where a session is read.
type ReadAt struct {
	// Base is the base name of its file; "" if it has none.
	Base string
	// Parent returns the text of the session that this one goes on from, as far as this one inherits it, by the id that it
	// names; nil if it is not there. A nil Parent has none.
	Parent func(id string) []byte
	// Each, if not nil, is called with each item instead of keeping it, by a reader that can do without: then the result has neither Items
	// nor Unsent. Nobody must keep what the item points to.
	Each func(item *session.Item)
}

// Outline is the vocabulary of an agent's format. Any other text may have been written by a person.
type Outline struct {
	Values map[string]bool // members of a record, or of its body, whose text is technical
	Keys   map[string]bool // further members
	Types  map[string]bool // what a member "type" deeper in a record may say
	Body   string          // the member that holds what a record is about
}

// Set makes one of an Outline's sets of words.
func Set(words ...string) map[string]bool {
	m := make(map[string]bool, len(words))
	for _, w := range words {
		m[w] = true
	}
	return m
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
	// Keep returns the line of a record that stays, as it must stand next in the copy.
	Keep(line []byte) ([]byte, error)
	// Insert returns the line of a new record.
	Insert(line []byte) []byte
	// Remove says that a record leaves its place, or a dead line leaves the session.
	Remove(line []byte)
	// Leave says that a record stays unreadable. Lint may still read in it what a repair that was not chosen would make of it.
	Leave(line []byte)
	// Renumber numbers everything anew from the next record on. An edit with finding.Renumber asks for it.
	Renumber()
}
