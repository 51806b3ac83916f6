package session

import (
	"bytes"
	"cmp"
	"fmt"

	"github.com/hist-cli/hist/internal/jsonl"
)

// Kind is what a record is for.
type Kind uint8

// The kinds of record, the same for every agent.
const (
	Other      Kind = iota // holds nothing that any rule asks about
	Header                 // who the session is
	Message                // a prompt, an answer, or any other item of the model's history that is neither call nor output
	Call                   // the model asks for a tool
	Output                 // what the tool answered
	Evidence               // repeats content for the display: events that mirror messages, calls and outputs
	TurnStart              // a turn begins
	TurnEnd                // a turn has completed or was aborted
	Context                // the settings that a turn runs with
	Compaction             // replaces the model's history so far
	Rollback               // takes the newest turns out of the model's history
	Unreadable             // the line holds no record
)

var kindNames = [...]string{
	"other", "header", "message", "call", "output", "evidence", "turn start", "turn end", "context", "compaction", "rollback", "unreadable",
}

// String names the kind in words.
func (k Kind) String() string { return kindNames[k] }

// Family is a group of tool calls that an agent pairs separately: an output answers only calls of its own family.
type Family uint8

// The families of tool calls.
const (
	NoFamily Family = iota
	Function        // function and shell calls
	Custom          // tools that take free text
	Search          // the client's own tool search
)

// Pos is the place of a logical record: the physical line on which it starts, and which of that line's records it is,
// because damage may have glued several records into one line.
type Pos struct {
	Line int64 // 1-based
	Part int32 // 0-based
	// Lost numbers the records that the file has lost behind this one and that are known from elsewhere, in their order;
	// it is 0 for the record itself.
	Lost int32
}

// Less says whether p comes before q in the file.
func (p Pos) Less(q Pos) bool {
	switch {
	case p.Line != q.Line:
		return p.Line < q.Line
	case p.Part != q.Part:
		return p.Part < q.Part
	}
	return p.Lost < q.Lost
}

// Compare is negative if p comes before q in the file, positive if it comes after it, 0 if they are the same.
func (p Pos) Compare(q Pos) int {
	return cmp.Or(cmp.Compare(p.Line, q.Line), cmp.Compare(p.Part, q.Part), cmp.Compare(p.Lost, q.Lost))
}

// String is the position in words; unlike Part, it counts records from 1.
func (p Pos) String() string {
	if p.Part == 0 {
		return fmt.Sprintf("line %d", p.Line)
	}
	return fmt.Sprintf("line %d, record %d", p.Line, p.Part+1)
}

// Record is what one logical line means. The byte slices point into Raw and are valid as long as Raw is.
type Record struct {
	Pos     Pos
	Offset  int64 // of the physical line's first byte in the uncompressed file
	Size    int64 // bytes the physical line or lines take in the file, newlines included
	Raw     []byte
	Spans   []jsonl.Span // the fields that the decoder asked for
	Blank   bool         // an unreadable line without any content of its client's
	Zeros   bool         // a blank line of NULs, so long that there must have been records that never reached the disk
	Drop    bool         // an unreadable line that a repair sets aside
	Open    bool         // no newline ends it
	Passed  int64        // how many bytes of an unreadable line come after Raw and are not held, because the line is too long
	Torn    bool         // the line was cut, and hist closed the record there
	Holed   int          // how many NULs were taken out of its line: something may have stood there
	Refused bool         // the client can't read it, although it is JSON
	From    string       // of a lost record: the file that holds it; empty for the client's database
	// Original is the physical line or lines that Raw was read from, without the last newline.
	Original []byte
	Mended   bool // Raw differs from what is in the file
	// Written is what stands in the file if Raw is only a reading of it, of the same length: nil otherwise.
	Written []byte

	Kind   Kind
	Family Family
	Type   string // the agent's own name for it, e.g. "response_item/function_call"

	ID     []byte // of the item, for the model API
	CallID []byte // the same for a call, its output and the evidence of both
	TurnID []byte
	Role   []byte

	Model    bool // part of the history that is sent to the model
	Boundary bool // a user's prompt, with which a turn of the model's history begins
	Begins   bool // a turn begins with it; Turns.See sets this
	Answer   bool // something the model said or did
	Note     bool // an output that only adds a note to a call, which another record answers
	Sound    bool // its Decoder has looked at the record by itself for what rules report, and found nothing

	Ordinal Ordinal

	// For a Decoder whose rules compare records by hashes. Said is the field, an index of Spans, in which the record says
	// what others repeat, and SaidSum the hash of that; Sum is the hash of all that the record says, 0 if none was taken.
	Said         int
	SaidSum, Sum uint64

	// Prepared is what a Preparer has made of the record, nil if none has.
	Prepared any
}

// CutMark ends a text whose rest was lost when its line was cut.
const CutMark = "\n[hist: the session file was cut here; the rest of this text is lost]"

// Ordinal is the number a paginated file gives a record.
type Ordinal struct {
	State OrdinalState
	Value int64
}

// OrdinalState says how an ordinal stands in its record.
type OrdinalState uint8

// The states of an ordinal.
const (
	NoOrdinal   OrdinalState = iota // absent or null
	GoodOrdinal                     // a non-negative integer
	BadOrdinal                      // anything else: the client can't read the record
)

// Decoder reads one agent's lines.
type Decoder interface {
	// Shape is the compiled list of the fields that Decode expects in Record.Spans.
	Shape() *jsonl.Shape
	// Paths is the number of fields in Shape.
	Paths() int
	// Decode fills everything in rec but Pos, Offset, Size, Raw and Spans, which it reads.
	// Raw is one strict JSON object.
	Decode(rec *Record)
	// Envelope says whether the object in rec.Raw looks like a record of this agent.
	Envelope(rec *Record) bool
	// Complete says whether a record that was cut, and then closed behind its last whole member, still has all that it
	// needs to be understood.
	Complete(rec *Record) bool
	// TextCut says whether the byte of rec.Raw at offset at lies in a text of which a part is still of use: that of an output
	// or a message.
	TextCut(rec *Record, at int) bool
	// Starts are the first bytes that a record may have. A torn line is searched for them.
	Starts() [][]byte
	// Shorten closes a cut record in front of a member that it can do without. It is nil if there is no such member, or if
	// the cut is before it. last says that the record is the session's last one.
	Shorten(raw []byte, last bool) []byte
	// Weigh says how much a decoded record tells: more if the client can read it, so that of two readings of a line the right one can
	// be told; negative if that is never known.
	Weigh(rec *Record) int
	// Doubled is the offset in rec.Raw of a key that stands twice in an object of a list, where a Scanner does not compare keys; -1 if
	// there is none.
	Doubled(rec *Record) int
	// MaxDepth is how deep brackets may be nested for the client's JSON reader, which drops a record that goes deeper; 0 if
	// there is no limit.
	MaxDepth() int
	// IsName says whether a member's text is a name or an id. A foreign byte in one was never part of it.
	IsName(key []byte) bool
	// Misspelled finds the one bit that flipped in a key that a decoded record lacks, or in the name of a type: where its byte stands
	// in rec.Raw, and what it was. ok is false if nothing is lacking, or what is there instead is not certain.
	Misspelled(rec *Record) (at int, was byte, ok bool)
	// Modernize makes of a decoded record that the client does not read, though all of it is there, one that it reads. what says in words
	// what was wrong; it is "" if nothing was. before is the When of the newest record in front of it that has one; guessed says that it was
	// needed.
	Modernize(rec *Record, before []byte) (line []byte, what string, guessed bool)
	// When is the time of a decoded record as its line has it; empty if it has none, or Modernize needs none.
	When(rec *Record) []byte
}

// WholeRecords are the answers of a Decoder, to embed, whose client reads no record that lacks a member, and knows but one form of records, in
// which it does not mind how deep brackets are nested.
type WholeRecords struct{}

// Shorten is nil.
func (WholeRecords) Shorten([]byte, bool) []byte { return nil }

// MaxDepth is 0.
func (WholeRecords) MaxDepth() int { return 0 }

// Modernize does nothing.
func (WholeRecords) Modernize(*Record, []byte) (line []byte, what string, guessed bool) {
	return nil, "", false
}

// When is empty.
func (WholeRecords) When(*Record) []byte { return nil }

// Nothing says whether a line holds nothing at all: blanks, or NULs.
func (r *Record) Nothing() bool { return len(bytes.Trim(r.Raw, "\x00 \t\r\n")) == 0 }

// Preparer is a Decoder whose rules do much that needs nothing but the record.
type Preparer interface {
	// Prepare returns what does that, after Decode, to Record.Prepared. Each goroutine needs one of its own.
	Prepare() func(rec *Record)
}
