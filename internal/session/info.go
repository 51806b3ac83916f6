package session

// Info is who a session is, as far as its file says.
type Info struct {
	ID          string
	SessionID   string
	CWD         string
	Version     string // of the client that began it
	Provider    string
	Source      string
	Commit      string // of the working directory when the session began, "" if it was none of git's
	Branch      string
	Repository  string // where it was cloned from, as git says; it may hold a password
	Mode        string // how the agent keeps the session, in the agent's word
	ForkedFrom  string
	BaseThread  string // rollout id of the ancestor that the file continues
	BaseOrdinal int64
	BaseOffset  int64
	// ResumedBy is the thread with whose id the client resumes this session, "" if with its own.
	ResumedBy     string
	NotResumed    string // why the client does not resume it, whatever its id; "" if it does
	SubagentStart int64  // ordinal of the first record that is a sub-agent's own; 0 if it inherits nothing
}

// Paginated says whether the session's records carry ordinals.
func (h Info) Paginated() bool { return h.Mode == "paginated" }
