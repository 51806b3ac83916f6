package agent

import (
	"context"
	"errors"
	"time"
)

// ErrSchema says that a database is not in a form that this version knows; it was left alone.
var ErrSchema = errors.New("unknown form of the database")

// DependantsBy lists the sessions of a home, at a directory, that rely on bytes of the one at path.
type DependantsBy func(ctx context.Context, home, path string) ([]Dependant, error)

// Dependant is a session that goes on from another one's bytes.
type Dependant struct {
	Path   string
	Offset int64 // it relies on the bytes of the other before this one
}

// Thread is one thread as its client lists it.
type Thread struct {
	ID       string // in lower case
	Path     string // of its session, absolute
	CWD      string
	Title    string // the name that a user gave, else what the client shows in its place: the first prompt
	Named    bool   // a user gave it
	Version  string // of the client that began it
	Updated  time.Time
	Archived bool
	Subagent bool // another session's agent began it
	// Unasked: the list holds no prompt of it, as of one whose client was killed before it wrote it there. A client that
	// takes the last thread from its list passes over it.
	Unasked bool
}

// Copied is a copy of a thread that is to be listed.
type Copied struct {
	ID     string
	Path   string // of its file, absolute
	Mode   string // in which it keeps its history, "" if none is known
	Prompt string // the first that it holds, "" if none is known: for a list that has none of the original
	Made   time.Time
}
