package check

import (
	"io"

	"github.com/hist-cli/hist/internal/finding"
)

// Options say what is known of a session beside its bytes.
type Options struct {
	Agent string                      // that wrote it, by its name; "" where the file's name and its first bytes are to tell
	Name  Name                        // what its file is called
	Home  string                      // the agent's home that it lies in; "" is none
	Kept  KeptBy                      // reads what Home keeps of the session; nil: that is not used
	Live  bool                        // somebody writes it now: an unfinished end is no damage
	For   map[string]string           // by the agent's name, the version of its client that will resume the session; without one it is the newest known
	Path  string                      // of the file, symbolic links resolved; "" for a stream. What lies beside it may hold what it has lost
	Text  io.ReaderAt                 // the session's text, if that is not what lies at Path: of a copy that is being made of it
	Mend  func(*finding.Finding) bool // which findings may be mended; nil: all that are more than notes
	// SiblingVersion returns the client version that the newest other session nearby was written by, "" if none is
	// known; it is asked only for a session without a header. nil knows none.
	SiblingVersion func() string
	// Asked, if it is not nil, is called before another file than the session's own is looked at.
	Asked          func()
	Listed         ListedBy // reads what the agent's own list says of a session whose header is lost; nil: nothing
	Branch         string   // a record by whose branch the client is to go on, by its id or the first digits of it; "" leaves that as it is
	ChainParallel  bool     // outputs of parallel calls are hung behind each other, for clients that follow one path only
	StripEncrypted bool     // encrypted items are to be set aside: no provider that is left can read them
	KeepOrphans    bool     // an output whose call can't be rebuilt is kept as a note to the model
	Fresh          bool     // an empty file is so young that its first record may be on its way
	// WakePrefix begins the messages by which a harness wakes its agent, "" is "[WAKE]"; SaveTool is the tool by which
	// an agent saves its work at the end of a turn, "" is "add_memory". The restart rules look for them.
	WakePrefix, SaveTool string
	Provider             string // the model API to judge by, "" is the one that the session names; see ProviderFor
	Processors           int    // how many processors the work may be spread over; 0: all
}

// Name is what the name of a session's file says about it.
type Name struct {
	Base      string // the file's name without folders; "" if there is none (stdin)
	Canonical bool   // the client's own form
	ThreadID  string // from the name, "" if it has none
	FileID    string // what tells several files of one thread apart
	Time      string // from the name, local, "2006-01-02T15-04-05"
	InHome    bool   // the file lies where the client looks for sessions
}
