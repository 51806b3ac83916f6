package finding

import "github.com/hist-cli/hist/internal/session"

// Finding is one damage at one place, with the edits that mend it.
type Finding struct {
	Rule    *Rule
	Impact  Impact
	Fix     Fix
	Pos     session.Pos
	Offset  int64  // 0-based, of the fault in the uncompressed file
	Record  string // the record's type in the agent's words, "" if it can't be read
	Message string // what is wrong here; holds no text of the conversation
	Source  string // where recovered content comes from, in words
	Count   int64  // how often, when one finding stands for many; 0 means once
	Through int64  // the last line that it stands for, if it stands for lines in a row; else 0
	More    bool   // it counts further findings of its rule, and brings the edits of none
	On      Ref    // the line it is about; zero if it is about none, or an earlier one
	IDs     string // the ids of the record it is about, as they stand there; "" if it has none

	// Edits mend the finding. A framing finding has none: the normalizer mends it whenever it reads the line.
	Edits []Edit
	// Rename is the thread id that a repaired copy's file is named for; the mend of a name that is wrong.
	Rename string
	// Reproject: the mend is that the client builds its view of the session anew; the file stays as it is.
	Reproject bool
	// Lost is how many items of the model's history are missing or replaced because of this finding, and stay so after the repair.
	Lost int64
	// Unseen is how many items stand in the file well-formed that do not count as seen because of this finding: the
	// client drops them, or they are a second copy.
	Unseen int64

	// Hole: the finding is known only by a record that is missing where its edits go; to mend that alone would hide it.
	Hole bool
	// Framing: the mend lies in the normalizer and not in Edits.
	Framing bool
}

// Covers says whether the finding is about a line, alone or as one of a row.
func (f *Finding) Covers(line int64) bool {
	return f.Pos.Line == line || f.Pos.Line < line && line <= f.Through
}

// Op is what an Edit does with the record it addresses.
type Op uint8

// The operations.
const (
	Splice   Op = iota // replace byte ranges inside the record
	Remove             // take the record out; its bytes are set aside unless the edit only moves it
	Before             // insert a record in front of it
	After              // insert a record behind it; several at one place keep the order in which they are planned
	Renumber           // from this record on, ordinals go up one by one from the record before
	Restore            // put a record back where At says that it was lost
)

// Edit is one change of one logical record.
type Edit struct {
	At    session.Pos
	Op    Op
	Cuts  []Cut   // Splice
	New   Content // Before, After
	Moved bool    // Remove: the same bytes are inserted elsewhere
	Lead  bool    // Before: in front of all else that is inserted there
	Tail  bool    // After: behind all else that is inserted there
}

// Cut replaces a range of a record's bytes.
type Cut = session.Cut

// Content is the bytes of an inserted record: literal, or made from a record elsewhere in the file; of both, the literal
// is for when that can't be made of it.
type Content struct {
	Literal []byte
	From    *Ref
	// Build makes the new record from the one at From; nil copies it.
	Build func(record []byte) ([]byte, error)
	// Join makes it from several records: the one at From, and then those of More. It takes the place of Build.
	Join func(records [][]byte) ([]byte, error)
	More []Ref
}

// Ref is a logical record in the file, kept instead of its bytes.
type Ref struct {
	Pos    session.Pos
	Offset int64 // bytes, of the physical line in the uncompressed file
	Size   int64 // bytes of the physical line or lines, newlines included
	// Text is the record itself, where the file has lost it and something beside the file keeps it; then Pos.Lost is not 0.
	Text string
}

// RefOf is where a record stands.
func RefOf(rec *session.Record) Ref {
	ref := Ref{Pos: rec.Pos, Offset: rec.Offset, Size: rec.Size}
	if rec.Pos.Lost > 0 {
		ref.Text = string(rec.Raw)
	}
	return ref
}
