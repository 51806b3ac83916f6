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

// Lost is a record that the file lacks, written again from what is kept beside it.
type Lost struct {
	Ordinal int64
	At      time.Time // when it was written; when what it tells began, if Begun
	Begun   bool
	Line    []byte
}

// Restorer is a Checker that wants to see the records that the file has lost, each in its place.
type Restorer interface {
	Lost(rec *session.Record)
}
