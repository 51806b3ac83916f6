package content

import (
	"github.com/hist-cli/hist/internal/jsonl"
)

// Rare are facts that few records have. Read them as the record's own, but call own before you write one.
type Rare struct {
	Ref2      string // logicalParentUuid of a boundary
	Counted   int64  // how many records of the tree the client counted at the end of a turn, from the last compaction on
	Faults    []Fault
	Pictures  int                 // images in the message
	NoSuch    string              // the name of a tool that the client says there is none of, as this output gives it
	Wide      []picture           // those of them that are too wide among many
	Served    []Served            // calls and outputs of the API's own servers
	Keeps     []KeptRecord        // the messages that a compaction's mark names as kept
	Anchor    string              // the id of the record behind which a client sends these
	Rebuilt   *rebuilt            // what the structured result shows of the call, if that may be needed
	byID      map[string][]*Block // the blocks by id, if there are very many
	SideAt    jsonl.Span          // of the text "false" where the record should say that it is no sub-agent's
	EmptySpan jsonl.Span          // the content of a message with no words in it
	ContentAt int                 // where content would have to be inserted if the message has none; otherwise 0
}

// Nothing is the rare of all records that have no such member. It must not be written to.
var Nothing = &Rare{}

// Own returns a record's rare members, to be written.
func (n *Facts) Own() *Rare {
	if n.Rare == Nothing {
		n.Rare = &Rare{}
	}
	return n.Rare
}
