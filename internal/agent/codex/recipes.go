package codex

import (
	"cmp"
	"fmt"
)

// The recipes by which a repair makes a record from others: each is a value, its fields are all that it depends on besides the
// records that it is made from. Make's errors say what those lack.
type (
	// MessageRecipe makes a lost message from the event that showed it (MessageFrom).
	MessageRecipe struct{}
	// SearchRecipe makes the item of a web search from the event that shows it (SearchFrom).
	SearchRecipe struct{}
	// ThoughtRecipe makes a message that keeps what events show of a thought (ThoughtFrom).
	ThoughtRecipe struct{}
	// NoteRecipe makes a message that keeps the text of an output whose call is gone (Note).
	NoteRecipe struct{}
	// UnnamedRecipe is the record itself, without its item's id (WithoutID).
	UnnamedRecipe struct{}
	// CallRecipe makes a lost call from an event that names its tool (CallFrom).
	CallRecipe struct {
		CallID, OutputType string
		Naming             Naming
	}
	// LostCallRecipe makes a call that says that it is lost, from its output (LostCall).
	LostCallRecipe struct{ CallID, OutputType string }
	// OutputRecipe makes the output of a call from an event with the same content (OutputFrom).
	OutputRecipe struct{ Tool Tool }
	// KeptOutputRecipe makes the output of a call from the compaction whose history holds it (KeptOutput).
	KeptOutputRecipe struct{ Tool Tool }
	// ScriptRecipe makes the call of a lost script from the events of what it ran (ScriptFrom). Stamp may be "": then it is the first event's.
	ScriptRecipe struct {
		CallID, OutputType, Stamp string
		Several                   bool
	}
	// ScriptOutputRecipe makes the output of a lost script from the events of what it ran (NestedOutput).
	ScriptOutputRecipe struct {
		Tool    Tool
		Stamp   string
		Several bool
	}
	// CutOutputRecipe completes the output of a script from the events of what it ran (CutOutput); Own is what is left of it.
	CutOutputRecipe struct {
		Tool       Tool
		Stamp, Own string
	}
)

func (MessageRecipe) Make(records [][]byte) ([]byte, error) { return MessageFrom(records[0]) }
func (SearchRecipe) Make(records [][]byte) ([]byte, error)  { return SearchFrom(records[0]) }
func (ThoughtRecipe) Make(records [][]byte) ([]byte, error) { return ThoughtFrom(records) }
func (NoteRecipe) Make(records [][]byte) ([]byte, error)    { return Note(records[0]), nil }
func (UnnamedRecipe) Make(records [][]byte) ([]byte, error) { return WithoutID(records[0]) }

func (r CallRecipe) Make(records [][]byte) ([]byte, error) {
	return CallFrom(r.CallID, r.OutputType, r.Naming, records[0])
}

func (r LostCallRecipe) Make(records [][]byte) ([]byte, error) {
	return LostCall(r.CallID, r.OutputType, records[0]), nil
}

func (r OutputRecipe) Make(records [][]byte) ([]byte, error) { return OutputFrom(r.Tool, records[0]) }

func (r KeptOutputRecipe) Make(records [][]byte) ([]byte, error) {
	if out := KeptOutput(records[0], r.Tool); out != nil {
		return out, nil
	}
	return nil, fmt.Errorf("the compacted history does not hold the output of %s", r.Tool.CallID)
}

func (r ScriptRecipe) Make(records [][]byte) ([]byte, error) {
	stamp := cmp.Or(r.Stamp, StampOf(records[0]))
	return ScriptFrom(r.CallID, r.OutputType, stamp, r.Several, records), nil
}

func (r ScriptOutputRecipe) Make(records [][]byte) ([]byte, error) {
	return NestedOutput(r.Tool, r.Stamp, r.Several, records)
}

func (r CutOutputRecipe) Make(records [][]byte) ([]byte, error) {
	return CutOutput(r.Tool, r.Stamp, []byte(r.Own), records)
}
