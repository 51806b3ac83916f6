package session

import (
	"fmt"

	"github.com/hist-cli/hist/internal/jsonl"
)

// Kind is what a record is for.
type Kind uint8

// The kinds of record, the same for every agent.
const (
	Other      Kind = iota // carries nothing that a rule asks for
	Header                 // who the session is
	Message                // a prompt, an answer, or any other item of the model's history that is neither call nor output
	Call                   // the model asks for a tool
	Output                 // what the tool answered
	Evidence               // tells the same content a second time: events that mirror messages, calls and outputs
	TurnStart              // a turn begins
	TurnEnd                // a turn has completed or was aborted
	Context                // settings a turn runs under
	Compaction             // replaces the model's history so far
	Rollback               // takes the newest turns out of the model's history
	Unreadable             // the line holds no record
)

var kindNames = [...]string{
	"other", "header", "message", "call", "output", "evidence", "turn start", "turn end", "context", "compaction", "rollback", "unreadable",
}

// String names the kind in words.
func (k Kind) String() string { return kindNames[k] }

// Family parts tool calls that an agent pairs separately: an output answers only calls of its own family.
type Family uint8

// The families of tool calls.
const (
	NoFamily Family = iota
	Function        // function and shell calls
	Custom          // tools that take free text
	Search          // the client's own tool search
)

// Pos addresses a logical record: the physical line it starts on, and which of that line's records it is
// (a line may hold several that were glued together).
type Pos struct {
	Line int64 // 1-based
	Part int   // 0-based
	// Lost counts what the file has lost behind this record and something else still tells of, in its order; 0 for the
	// record itself.
	Lost int
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

// String prints the position as a user counts it.
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
	Spans   []jsonl.Span // the decoder's own fields
	Blank   bool         // an unreadable line without any content
	Zeros   bool         // a blank line of so many NULs that records stood there, which never reached the disk
	Drop    bool         // an unreadable line that a repair sets aside
	Open    bool         // no newline ends it
	Passed  int64        // bytes of an unreadable line behind Raw, which are not kept: the line is too long
	Torn    bool         // the record was closed by hist where its line had been cut
	Refused bool         // the client can't read it, though it is JSON
	From    string       // of a lost record: the file that holds it; empty for the client's database
	// Original is the physical line or lines that Raw comes from, without the last newline.
	Original []byte
	Mended   bool // Raw is not what stands in the file

	Kind   Kind
	Family Family
	Type   string // the agent's own name for it, e.g. "response_item/function_call"

	ID     []byte // of the item, as the model API knows it
	CallID []byte // joins calls, outputs and evidence
	TurnID []byte
	Role   []byte

	Model    bool // part of the history that is sent to the model
	Boundary bool // a prompt of the user's: where a turn of the model's history begins
	Begins   bool // a turn begins with it, as the normalizer notes: see Turns
	Answer   bool // something the model said or did
	Note     bool // an output that only adds a word to its call: what answers the call is another record

	Ordinal Ordinal
}

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

// Decoder tells what one agent's lines mean.
type Decoder interface {
	// Shape is the fields that Decode wants to find in Record.Spans, compiled.
	Shape() *jsonl.Shape
	// Paths is the number of fields in Shape.
	Paths() int
	// Decode fills everything in rec but Pos, Offset, Size, Raw and Spans, which it reads.
	// Raw is one strict JSON object.
	Decode(rec *Record)
	// Envelope says whether the object in rec.Raw looks like a record of this agent.
	Envelope(rec *Record) bool
	// Complete says whether a record that was cut, and closed behind its last whole member, still has all that
	// its meaning rests on.
	Complete(rec *Record) bool
	// TextCut says whether the byte of rec.Raw at offset at lies in words that may be shown cut: the text of an
	// output or a message.
	TextCut(rec *Record, at int) bool
	// Starts is what a record's first bytes look like; a torn line is searched for it.
	Starts() [][]byte
}

// Shortener is a Decoder that knows of records that stand without a part of them.
type Shortener interface {
	// Shorten closes a record that was cut in front of a member that it can do without; nil if there is none, or the cut
	// was before that. last says that the session did not go on behind the record.
	Shorten(raw []byte, last bool) []byte
}

// ClientReader is a Decoder of which it is known how the agent's client reads a line.
type ClientReader interface {
	// MaxDepth is how many brackets deep the client's JSON reader goes; it drops a record that goes deeper. 0: there is no limit.
	MaxDepth() int
	// IsName says whether a member's text is a name or an id: a foreign byte in one was never part of it.
	IsName(key []byte) bool
}
