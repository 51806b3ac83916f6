package agent

import (
	"context"
	"time"

	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/inuse"
	"github.com/hist-cli/hist/internal/session"
)

// The interfaces below are what some agents can do and others can't.

// Homed is an agent that keeps its sessions in a home directory of its own.
type Homed interface {
	Agent
	// DefaultHome is the home's absolute path, whether it exists or not.
	DefaultHome() (string, error)
	// Sessions are the directories of a home that hold sessions and exist. The one that sessions are resumed from is first.
	Sessions(home string) []string
	// Lists are the JSONL files that the client keeps beside the sessions of a home, whether they exist or not: the
	// prompts that were typed, the names of threads.
	Lists(home string) []string
	// Live is the directory of a home that sessions are resumed from, "" if it does not exist. LiveAt is where that
	// directory is or will be.
	Live(home string) string
	LiveAt(home string) string
	// Folder is where in a home sessions are resumed from, for sentences: "sessions/".
	Folder() string
	// HomeAbove is the home that an absolute path lies in, judging by the names of the folders above it; "" if in none.
	HomeAbove(path string) string
	// Find returns the files of the sessions in a home that an id, or the beginning of one, names. Named returns the ids
	// of the threads that users gave this name.
	Find(ctx context.Context, home, id string) ([]string, error)
	Named(home, name string) ([]string, error)
	// InUse says who uses a session, nil if nobody is known to.
	InUse(path, home, thread string) (*inuse.Busy, error)
	// TakesAny says whether the client, run by these arguments, takes for the last session also one that no person began, as
	// a command that runs one turn and ends does.
	TakesAny(args []string) bool
	// Asking says whether this process was started by the agent while it works in the thread.
	Asking(thread string) bool
	// Lock takes a thread's lock until release is called. The error is inuse.ErrBusy if somebody else has it.
	Lock(home, thread string) (release func(), err error)
}

// Noting is an agent whose clients note in files that they run, which stay if the client is killed.
type Noting interface {
	// StaleNote says which note on a session is about a process that is gone, where another one has its number now; "" if
	// none is.
	StaleNote(home, thread string) string
}

// Bounded is an agent whose findings are known to depend only on a session's own bytes and on these files of its home.
// Findings may be cached for as long as none of that changes, so nothing else may decide about one: no other file, and not
// the time. A checker that looks around says so by check.Options.Asked, and a check.Kept by its method Further.
type Bounded interface {
	// Databases are those of a home that every session depends on, whether they exist or not; none if there is no home.
	Databases(home string) []Database
	// Twins are the paths at which another file of the session with this name would count, whether there are any or not: that
	// there is none decides about each session. One that is there is looked at, which counts as looking around.
	Twins(home, base string) []string
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

// Inspected is an agent for which some findings are about a home as a whole, and are in no session.
type Inspected interface {
	// Inspect returns them.
	Inspect(home string) []Said
}

// Said is a finding about a session whose file may not exist.
type Said struct {
	Path    string // of the session's file, below the home as it was given
	Finding finding.Finding
}

// Archiver is an agent with an archive, from which its client does not resume.
type Archiver interface {
	// Archived says whether a directory, by its real path, is in the archive of a home; "" stands for any home that the
	// path itself shows.
	Archived(home, dir string) bool
	// NewDir is the directory of a home for a session that begins now.
	NewDir(home string, now time.Time) string
	// Unarchive is the command that takes a thread out of the archive, and why that is needed.
	Unarchive(thread string) (command []string, why string)
}

// Continuer is an agent whose client can itself find the last session of a directory.
type Continuer interface {
	// Last is the file of the session that the client resumes in a directory when a person asks it for the last one; with
	// any, when a command that runs one turn and ends does, which also takes those that such a command began. With cwd "", it is
	// the last one of all directories. It is "" if there is none, and the client begins a new session.
	Last(ctx context.Context, home, cwd string, any bool) (path string, err error)
}

// Local is an agent some of whose clients find a session only from the directory in which it was begun.
type Local interface {
	// OnlyInPlace says whether clients of a version do so.
	OnlyInPlace(version string) bool
}

// Doubler is an agent whose client may have a session with the same id in several folders.
type Doubler interface {
	// Doubles are the other files of a home that have the id of the session at path.
	Doubles(path, home string) []string
}

// Relocator is an agent whose client can be told, when it resumes a thread, in which directory to go on.
type Relocator interface {
	// ResumeIn is the command that resumes a thread in a directory, word by word.
	ResumeIn(thread, dir string) []string
}

// Typer is a Words whose client writes prompts that the user has not typed so, or not at all.
type Typer interface {
	// Typed is what the user typed of a prompt, "" if nothing.
	Typed(prompt string) string
}

// Thinker is a Words that reads what the model thought, where the provider lets it be read.
type Thinker interface {
	// Thought is the text of a Message that holds a thought, "" if it holds none that can be read.
	Thought(rec *session.Record) string
}

// Splitter is a Words whose records may say several things: words and calls.
type Splitter interface {
	// Parts are what a record says, in its order, each as a record of its own at the same place; the record alone if that is all.
	Parts(rec *session.Record) []session.Record
}

// Retaining is an agent whose client deletes sessions by the age of their files.
type Retaining interface {
	// Due says, in a sentence, that the client may delete a session; "" if it does not.
	Due(path string) string
}

// Unnoticed is an agent some of whose clients leave no sign that they have a session open.
type Unnoticed interface {
	// Unnoticed says whether clients of a version leave none. Then nobody can tell whether a session that such a client
	// wrote is in use.
	Unnoticed(version string) bool
}

// Dated is an agent whose older clients can't read every session of newer ones.
type Dated interface {
	// TooOld says why the client of a version can't read a session, "" if it can.
	TooOld(version string, about session.Info, compressed bool) string
}

// Sourced is an agent whose sessions say what began them (session.Info.Source).
type Sourced interface {
	// OfSubagent says whether another session's agent began a session.
	OfSubagent(about session.Info) bool
	// Interactive says whether a person began it, and not a command that runs one turn and ends, or another program.
	Interactive(about session.Info) bool
}

// Commanded is an agent whose client has subcommands.
type Commanded interface {
	// Subcommand says whether an argument of the client is one that keeps a thread open. Any other may be part of a prompt.
	Subcommand(arg string) bool
}

// Reidentifier is an agent whose session names its thread inside the file, so that a copy under a new id must be changed.
type Reidentifier interface {
	// Reidentify turns a header into that of a new thread, forked from the old one.
	Reidentify(header []byte, old session.Info, thread string) []byte
	// IsHeader says whether a line that a repair inserts is a header.
	IsHeader(line []byte) bool
}

// Parter is an agent that keeps parts of a session in files of their own.
type Parter interface {
	// Part says whether a file is such a part: a sub-agent's conversation, which belongs to the session that started it.
	Part(path string) bool
}

// Branched is an agent whose sessions are trees: its client resumes one of several branches.
type Branched interface {
	// Branched only marks the agent. It does nothing.
	Branched()
}

// Outlined is an agent whose records may be shown in outline where their text may not be shown.
type Outlined interface{ Outline() *Outline }

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

// Reader is an agent whose client is known well enough to say what it sends when it resumes a session.
type Reader interface {
	// ReadSent is what the client of a version ("" is the newest one measured) sends of a session, whose text is given whole and
	// uncompressed. at says under which name it lies, and what is known beside it. It is pure: nothing is looked up elsewhere.
	// The items' Content points into text.
	ReadSent(text []byte, at ReadAt, version string) (*session.Sent, error)
}

// ReadAt is where a session is read.
type ReadAt struct {
	// Base is the base name of its file; "" if it has none.
	Base string
	// Parent returns the text of the session that this one goes on from, as far as this one inherits it, by the id that it
	// names; nil if it is not there. A nil Parent has none.
	Parent func(id string) []byte
}

// Ruled is an agent some of whose rules find what a model API refuses.
type Ruled interface {
	// RuleFor is the name of the rule that finds what an API refuses, by that API and by the kind of what helps, both as
	// internal/api names them; "" if none does.
	RuleFor(api, mend string) string
	// TriesAgain says whether the client of a version ("" is the newest one measured) takes out what an API refuses, by the kind of what
	// helps, and sends the rest by itself.
	TriesAgain(version, mend string) bool
}

// Foldered is an agent whose client finds a directory's sessions by the folder of the home that they lie in.
type Foldered interface {
	// FolderFor is that folder, whether it exists or not. The error says why it can't be known.
	FolderFor(home, cwd string) (string, error)
}
