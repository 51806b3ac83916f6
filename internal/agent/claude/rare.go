package claude

import (
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/jsonl"
)

// rare are facts that few records have. Read them as the record's own, but call own before you write one.
type rare struct {
	ref2      string // logicalParentUuid of a boundary
	faults    []fault
	pictures  int                 // images in the message
	noSuch    string              // the name of a tool that the client says there is none of, as this output gives it
	wide      []picture           // those of them that are too wide among many
	served    []served            // calls and outputs of the API's own servers
	keeps     []keptRecord        // the messages that a compaction's mark names as kept
	rebuilt   *rebuilt            // what the structured result shows of the call, if that may be needed
	byID      map[string][]*block // the blocks by id, if there are very many
	sideAt    jsonl.Span          // of the text "false" where the record should say that it is no sub-agent's
	emptySpan jsonl.Span          // the content of a message with no words in it
	contentAt int                 // where content would have to be inserted if the message has none; otherwise 0
}

// nothing is the rare of all records that have no such member. It must not be written to.
var nothing = &rare{}

// own returns a record's rare members, to be written.
func (n *facts) own() *rare {
	if n.rare == nothing {
		n.rare = &rare{}
	}
	return n.rare
}

// mending is how hist has changed a record, or that it has added it. Read its members as the node's own, but call change before you
// write one.
type mending struct {
	renamed *string      // the parent's id in the file, if the record names another now
	moves   []move       // its changes of parent, and for which findings
	named   *draft       // the finding that gives it another id
	dropped *draft       // the finding that removes it
	new     *format.Made // set if hist wrote the record
	edit    placed
	clock   placed // of the time that it was given
}

// untouched is the mending of all records that hist leaves as they are. It must not be written to.
var untouched = &mending{}

// change returns a record's mending, to be written.
func (n *node) change() *mending {
	if n.mending == untouched {
		n.mending = &mending{}
	}
	return n.mending
}

// callParent makes a record name another parent than it does in the file.
func (n *node) callParent(id string) {
	if n.renamed == nil {
		was := n.parent
		n.change().renamed = &was
	}
	n.parent = id
}

// parentWas is the id of the record's parent in the file.
func (n *node) parentWas() string {
	if n.renamed != nil {
		return *n.renamed
	}
	return n.parent
}

// placed is where the edit is that inserts a record which hist wrote.
type placed struct {
	in *draft
	at int
}
