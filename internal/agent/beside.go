package agent

import (
	"context"
	"errors"
	"io"
	"time"
)

// What an agent's client keeps beside its sessions is compared with them by a Home of package homes. What not every
// client keeps are these interfaces, found by assertion on that Home. A session is named by the path of its file; of one
// under a name that the client does not know nothing is kept.

// ErrSchema says that a database is not in a form that this version knows; it was left alone.
var ErrSchema = errors.New("unknown form of the database")

// Viewer is a home whose client keeps a view of each session, made of the bytes of its file: it must be made anew where
// they move, and may be the only copy of what the file has lost.
type Viewer interface {
	// ViewName is the name of what holds the views, for sentences.
	ViewName() string
	// Viewed is how many bytes of a session, uncompressed, its view was made of; ok is false if there is none. The error
	// may be ErrSchema.
	Viewed(ctx context.Context, path string) (offset int64, ok bool, err error)
	// SaveView writes all that is kept of a session, in a form that RestoreView reads.
	SaveView(ctx context.Context, path string, to io.Writer) error
	// RewindView takes out of a view, in one transaction, what was made of bytes behind an offset. saved is the SHA-256
	// of what SaveView wrote: where the view is not the same any more, nothing is changed and there is an error. gone is
	// the number of rows that it took out.
	RewindView(ctx context.Context, path, saved string, offset int64) (gone int64, err error)
	// RestoreView makes a view what SaveView wrote, or empty if saved is nil; false if there is nothing any more that could
	// hold it. now is the SHA-256 of what SaveView would write of the view as it is: where it is another one, nothing is
	// changed and there is an error; "" means that it may be any. The error may be ErrSchema.
	RestoreView(ctx context.Context, path, now string, saved io.Reader) (bool, error)
}

// Breakable is a home whose client does not open sessions while it can't read a database of its own.
type Breakable interface {
	// Databases are the paths of those that a running client has open.
	Databases() []string
}

// DependantsBy lists the sessions of a home, at a directory, that rely on bytes of the one at path.
type DependantsBy func(ctx context.Context, home, path string) ([]Dependant, error)

// Dependant is a session that goes on from another one's bytes.
type Dependant struct {
	Path   string
	Offset int64 // it relies on the bytes of the other before this one
}

// Lister is a home whose client keeps a list of its threads.
type Lister interface {
	// Threads reads the list. It is nil if there is none; the error may be ErrSchema.
	Threads(ctx context.Context) ([]Thread, error)
	// LastIsListed says whether the client takes the last thread from its list, rather than by the times of the files.
	LastIsListed(threads []Thread) bool
	// Enlist adds a copy of a thread as the original stands there; false if it does not, or if there is no list. Delist
	// takes a copy out again whose file is gone.
	Enlist(ctx context.Context, original string, copied Copied) (bool, error)
	Delist(ctx context.Context, copied, path string) error
}

// Thread is one thread as its client lists it.
type Thread struct {
	ID       string // in lower case
	Path     string // of its session, absolute
	CWD      string
	Title    string // the name that a user gave, else what the client shows in its place: the first prompt
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
	Prompt string // the first that it holds, "" if none is known: for a list that has none of the original
	Made   time.Time
}
