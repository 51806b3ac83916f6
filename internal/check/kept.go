package check

import (
	"context"
	"time"

	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/session"
)

// Kept is what an agent's home keeps a second time of one session, beside its file. It is shown the file's records, and
// says then which of those that it knows are not among them.
type Kept interface {
	See(rec *session.Record)
	// Missing are the records that the file lacks, by their numbers. It is asked once, when all records have been seen.
	Missing(ctx context.Context, about session.Info) []Lost
	// Time is when a record was written, zero if it does not say.
	Time(rec *session.Record) time.Time
	// Finding is what to say of lost records: rule, impact, fix and source.
	Finding() finding.Finding
}

// KeptBy reads what a home keeps of the session in a file of that base name; nil if that is nothing. It only reads, and
// takes what it does not know for nothing. Whoever lints hands it in: then the rules link no database.
type KeptBy func(ctx context.Context, agent, home, base string) Kept

// Listed is what an agent's own list of threads, or another file of it, says of one.
type Listed struct {
	session.Info
	Originator string    // the program that the session was begun by, in its own words
	Created    time.Time // zero if the list does not say
	Base       string    // the base name of the session's file
	Prompt     string    // the first one; "" if the list does not say
	From       string    // the list's name, for reports; that of the file, if Header comes from one
	Header     []byte    // the session's own header, from another file of it; nil if there is none
}

// ListedBy reads what the list of a home says of the thread with an id; nil if nothing, or in no form that is known. It
// only reads.
type ListedBy func(agent, home, thread string) *Listed

// Lost is a record that the file lacks, written again from what is kept beside it.
type Lost struct {
	Ordinal int64
	Placed  bool      // its place is known, though it may have no number: behind so many readable records, the header excepted
	Behind  int       // that many
	Whole   bool      // Placed, and it is the whole of the next record that was cut there
	From    string    // the file that holds the record itself; "": it was made of what Kept.Finding names
	Retold  bool      // From holds only what it told
	At      time.Time // when it was written; when what it tells began, if Begun
	Begun   bool
	Rounded bool // At may be up to a second too early: it is kept in whole seconds
	Line    []byte
}

// Restorer is a Checker that wants to see the records that the file has lost, each in its place.
type Restorer interface {
	Lost(rec *session.Record)
}
