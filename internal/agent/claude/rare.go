package claude

import (
	"github.com/hist-cli/hist/internal/agent/claude/format"
)

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
		was := n.Parent
		n.change().renamed = &was
	}
	n.Parent = id
}

// parentWas is the id of the record's parent in the file.
func (n *node) parentWas() string {
	if n.renamed != nil {
		return *n.renamed
	}
	return n.Parent
}

// placed is where the edit is that inserts a record which hist wrote.
type placed struct {
	in *draft
	at int
}
