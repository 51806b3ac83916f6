package check

import (
	"context"
	"time"

	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/session"
)

// Kept is what an agent's home keeps of one session beside its file. It is shown the file's records, and then says which
// records it knows that are not among them.
type Kept interface {
	See(rec *session.Record)
	// Missing returns the records that the file lacks, sorted by their ordinals. It is called once, after all records have been
	// shown.
	Missing(ctx context.Context, about session.Info) []Lost
	// Time returns when a record was written, zero if it does not say.
	Time(rec *session.Record) time.Time
	// Finding returns the rule, impact, fix and source for a finding about lost records.
	Finding() finding.Finding
	// Further says whether missing records were looked for in other files of the home: then the findings depend on these.
	Further() bool
	// Unread says whether a database could not be read at that moment, as when a client has it for itself: then the same files may
	// yield more the next time.
	Unread() bool
}

// KeptBy reads what a home keeps of the session in the file with this base name; nil if it keeps nothing. It never writes,
// and ignores what is in a form that it does not know. The caller of lint provides it, so that the rules don't link a
// database.
type KeptBy func(ctx context.Context, agent, home, base string) Kept

// Listed is what an agent's own list of threads, or another file of a thread, says of that thread.
type Listed struct {
	session.Info
	Originator string    // the program that the session was begun by, in its own words
	Created    time.Time // zero if the list does not say
	Base       string    // the base name of the session's file
	Prompt     string    // the first one; "" if the list does not say
	Tokens     int64     // that the thread has used; 0 if the list does not say
	From       string    // the list's name, for reports; that of the file, if Header comes from one
	Header     []byte    // the session's own header, from another file of it; nil if there is none
}

// ListedBy reads what the list of a home says of the thread with an id; nil if it says nothing, or in a form that is not
// known. It never writes.
type ListedBy func(agent, home, thread string) *Listed

// Lost is a record that the file lacks, written again from what is kept beside it.
type Lost struct {
	Ordinal int64     // negative if it has none
	Placed  bool      // its place is known by Behind, even if it has no ordinal
	Behind  int       // how many readable records come before it, not counting the header
	Whole   bool      // with Placed: it is the whole of the next record there, which was cut
	From    string    // the file that holds the record; "" if it was made from what Kept.Finding names
	Retold  bool      // From does not hold the record itself, only what it said
	At      time.Time // when it was written or, if Begun, when what it reports began
	Begun   bool
	Rounded bool // At is in whole seconds, so it may be up to a second too early
	// Sure says that Ordinal is the record's own number in this session, so that no time need agree: what holds it also holds a later
	// record of the session under the same number. Clocks are set back.
	Sure bool
	Line []byte
}

const (
	// minCommonStart is how many bytes a torn record and the whole one must have in common at the start.
	minCommonStart = 60
	// maxOwnBytes is how many bytes of a torn record may differ from the whole one. They are what hist closed it with, or
	// the mark that it put in the place of a lost part.
	maxOwnBytes = 160
)

// TornFrom says whether a torn record is what is left of a whole one. What was lost may have been in the middle, so both
// ends are compared.
func TornFrom(torn, whole []byte) bool {
	start := 0
	for start < len(whole) && start < len(torn) && whole[start] == torn[start] {
		start++
	}
	end := 0
	for end < len(whole)-start && end < len(torn)-start && whole[len(whole)-1-end] == torn[len(torn)-1-end] {
		end++
	}
	return start >= minCommonStart && len(torn)-start-end <= maxOwnBytes
}

// Restorer is a Checker that wants to see lost records, each in its place.
type Restorer interface {
	Lost(rec *session.Record)
}
