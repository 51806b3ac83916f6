package finding

import (
	"slices"

	"github.com/hist-cli/hist/internal/session"
)

// Finding is damage at one place, with the edits that repair it.
type Finding struct {
	Rule    *Rule
	Impact  Impact
	Fix     Fix
	Pos     session.Pos
	Offset  int64  // 0-based, of the fault in the uncompressed file
	Record  string // the agent's name for the record's type, "" if it can't be read
	Message string // what is wrong here, without any text of the conversation
	Source  string // where recovered content comes from, in words
	Why     string // of several records that it could be tied to: which the repair has taken, and for what reason, in words
	Count   int64  // how many findings this one stands for; 0 means 1
	Through int64  // the last line, if it stands for several lines in a row; else 0
	On      Ref    // the line that it is about; zero if there is none, or if that line came earlier
	IDs     string // the ids of the record that it is about, as they are written there; "" if it has none

	// Edits repair the finding. A framing finding has none, because the normalizer repairs it whenever it reads the line.
	Edits []Edit
	// Rename is the thread id after which the file of a repaired copy is named, if its name is wrong.
	Rename string
	// Beside is the file beside the sessions that it is about, where every session of the home has the same finding; else "".
	Beside string
	// Option is the option of hist repair without which it is not mended, as it is typed; "" if it needs none, or nothing mends it.
	Option string
	// Lost is how many items of the model's history are missing or replaced because of this finding, and still are after
	// the repair.
	Lost int64
	// Unseen is how many well-formed items of the file do not count as seen because of this finding: the client drops
	// them, or they are a second copy.
	Unseen int64

	// What there are thousands of is kept small: all that is only true or false stands together.

	More bool // it only counts further findings of its rule, and has the edits of none of them
	// Reproject says that the repair is to let the client build its view of the session anew. The file stays as it is.
	Reproject bool
	// First: this is mended by itself before anything else, because it changes what else there is to find.
	First bool
	// Gap says that records are missing here, at the beginning or in the middle, and that nobody can tell how much of the history they held:
	// Lost counts only what is known.
	Gap bool
	// Void says that what is wrong here holds nothing of the history, whatever it does to the session.
	Void bool
	// Hole says that the only sign of the damage is a missing record where the edits go. To put in that record alone would
	// hide the damage.
	Hole bool
	// Framing says that the normalizer does the repair, and not Edits.
	Framing bool
}

// Of is a finding of the rule about a record, with the impact and the fix that the rule usually has.
func (r *Rule) Of(rec *session.Record, message string) Finding {
	return Finding{Rule: r, Impact: r.Impact, Fix: r.Fix, Pos: rec.Pos, Offset: rec.Offset, Record: rec.Type, Message: message}
}

// At is one about a record of a type that came earlier.
func (r *Rule) At(ref Ref, record, message string) Finding {
	return Finding{Rule: r, Impact: r.Impact, Fix: r.Fix, Pos: ref.Pos, Offset: ref.Offset, Record: record, Message: message}
}

// With is the finding with edits that repair it.
func (f Finding) With(edits ...Edit) Finding {
	f.Edits = append(f.Edits, edits...)
	return f
}

// Changes says whether an edit of the finding changes what another edit does.
func (f *Finding) Changes(e Edit) bool {
	return slices.ContainsFunc(f.Edits, func(o Edit) bool {
		if o.At != e.At || o.Op != Splice || e.Op != Splice {
			return o.At == e.At
		}
		return slices.ContainsFunc(o.Cuts, func(a Cut) bool {
			return slices.ContainsFunc(e.Cuts, func(b Cut) bool { return a.Start <= b.End && b.Start <= a.End })
		})
	})
}

// Covers says whether a line is the one, or one of several, that the finding is about.
func (f *Finding) Covers(line int64) bool {
	return f.Pos.Line == line || f.Pos.Line < line && line <= f.Through
}

// Op is what an Edit does with its record.
type Op uint8

// The operations.
const (
	Splice   Op = iota // replace byte ranges inside the record
	Remove             // take the record out; its bytes are kept in the run's record unless the edit only moves it
	Before             // insert a record in front of it
	After              // insert a record behind it; several at one place keep the order in which they were planned
	Renumber           // from this record on, give out ordinals that count up from the record before it
	Restore            // put a lost record back at the place that At names
)

// Edit is one change of one logical record.
type Edit struct {
	At    session.Pos
	Op    Op
	Moved bool    // Remove: another edit inserts the same bytes elsewhere
	Lead  bool    // Before: in front of everything else that is inserted there
	Tail  bool    // After: behind everything else that is inserted there
	Line  bool    // Splice: of a damaged line as it is, which stays damaged
	Cuts  []Cut   // Splice
	New   Content // Before, After
}

// Cut replaces a range of a record's bytes.
type Cut = session.Cut

// Recipe makes a new record from others, each given as its text. It is data, so that a finding can be printed, compared and kept:
// a value whose type says what is made, and whose fields are all that this depends on besides the records. An error says what these lack.
type Recipe interface {
	Make(records [][]byte) ([]byte, error)
}

// Content is the bytes of an inserted record: Literal, or made from a record elsewhere in the file. If both are given,
// Literal is used when the other fails.
type Content struct {
	Literal []byte
	From    *Ref
	More    []Ref  // further records that Recipe needs
	Recipe  Recipe // makes the new record from the one at From, and then those of More; nil: it is a copy of the one at From
	// Numbered: the record keeps its ordinal, as if it stood in the file; a jump in them tells that others are missing.
	Numbered bool
}

// Ref says where a logical record is in the file, so that its bytes need not be held.
type Ref struct {
	Pos    session.Pos
	Offset int64 // bytes, of the physical line in the uncompressed file
	Size   int64 // bytes of the physical line or lines, newlines included
	// Text is the record itself if the file has lost it and it is known from elsewhere. Then Pos.Lost is not 0.
	Text string
}

// RefOf is where a record is.
func RefOf(rec *session.Record) (r Ref) {
	r.Set(rec)
	return r
}

// Set makes r where a record is. For what is kept of nearly each record it is better than RefOf: a processor waits where a value
// is copied that has just been put together.
func (r *Ref) Set(rec *session.Record) {
	r.Pos.Line, r.Pos.Part, r.Pos.Lost = rec.Pos.Line, rec.Pos.Part, rec.Pos.Lost
	r.Offset, r.Size, r.Text = rec.Offset, rec.Size, ""
	if rec.Pos.Lost > 0 {
		r.Text = string(rec.Raw)
	}
}
