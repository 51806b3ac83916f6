package check

import (
	"io"
	"path/filepath"
	"strings"

	"github.com/hist-cli/hist/internal/finding"
)

// Options say how to lint a session, and what is known of it besides its bytes. The zero value is a session of which nothing
// else is known, linted for the newest client.
type Options struct {
	// Which session it is.

	Agent string      // name of the agent that wrote it; "" to tell by the file's name and first bytes
	Name  Name        // what its file is called
	Path  string      // of the file, symbolic links resolved; "" for a stream. Files beside it may hold what it has lost
	Text  io.ReaderAt // the session's text, if it can be read at any place without opening Path, which may be that of a copy's original
	// Reopen gives the text of a stream a second time; nil if that can't be had. Without a second time, what the API has refused is
	// not looked for.
	Reopen func() (io.ReadCloser, error)
	Home   string // the agent's home that it is in; "" if it is in none
	Live   bool   // somebody is writing it: an unfinished end is not damage
	Fresh  bool   // the file is so new that, if it is empty, its first record may still come

	// What may be asked beside it.

	Kept   KeptBy   // reads what Home keeps of the session; nil: nothing is read
	Listed ListedBy // reads what the agent's own list says of a session whose header is lost; nil: nothing
	// SiblingVersion returns the client version that the newest other session nearby was written by, "" if none is
	// known; it is asked only for a session without a header. nil knows none.
	SiblingVersion func() string
	Asked          func() // called before another file than the session's own is looked at; may be nil

	// Who will read it.

	For      map[string]string // by agent name, the client version that will resume the session; the newest known if there is none
	Error    string            // the text of an error that a resume ended with; it is looked at like one that the session records
	Provider string            // the model API to judge by, "" is the one that the session names; see ProviderFor

	// What a repair may do.

	Mend           func(*finding.Finding) bool // says which findings may be mended; nil: all that are more than notes
	Branch         string                      // the id, or its first digits, of a record on the branch that the client should go on with; "" to leave that as it is
	ChainParallel  bool                        // put outputs of parallel calls one after the other, for clients that follow one path only
	StripEncrypted bool                        // set encrypted items aside: no provider that the user still has can read them
	DropThinking   []int64                     // the lines whose thinking is set aside
	KeepOrphans    bool                        // keep an output whose call can't be rebuilt as a note to the model

	// What the restart rules look for.

	WakePrefix string // begins the messages by which a harness wakes its agent, "" is "[WAKE]"
	SaveTool   string // the tool by which an agent saves its work at the end of a turn, "" is "add_memory"

	Processors int // how many processors the work may use; 0: all
}

// Name is what the name of a session's file says about it.
type Name struct {
	Base      string // the file's name without folders; "" if there is none (stdin)
	Canonical bool   // the client's own form
	ThreadID  string // from the name, "" if it has none
	FileID    string // what tells several files of one thread apart
	Time      string // from the name, local, "2006-01-02T15-04-05"
	InHome    bool   // the file lies where the client looks for sessions
	Right     string // the name in the client's own form that this one holds, as names of copies do; "" if there is none
	Beside    bool   // a file of that name lies beside it
	Linked    bool   // a link that lies there, in the client's own form, leads to the file
}

// GoesOn says whether the name begins as one in the client's own form, and goes on behind it.
func (n Name) GoesOn() bool {
	return n.Right != "" && strings.HasPrefix(n.Base, strings.TrimSuffix(n.Right, filepath.Ext(n.Right)))
}
