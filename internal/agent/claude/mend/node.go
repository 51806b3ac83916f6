package mend

import (
	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/session"
)

// node is a record with its place: in the file, and in the tree once all is mended.
type node struct {
	content.Facts
	*mending

	up *node // the record's parent once all is mended, nil at a root
	siblings
	grafts
	layout
	index int // among all nodes, in the order of the file
	format.Place

	number     int32 // unique among all records, those that hist added included
	many       int32 // how many records hang on it
	retold     bool  // the client wrote it before with the same id and time: 1.0.17 repeats what it says about commands
	mended     bool  // the client can't read the line as it is
	torn       bool  // the line was cut off, and hist has closed the record there
	branchDone bool  // the branch that begins here has been looked at
}

// nodeReader reads records of the tree, one after the other.
type nodeReader struct {
	content.Tools
	before *node  // the newest that was read
	count  int    // how many were
	spare  []node // memory for more: all are kept to the end
}

// nodesAtOnce is for how many nodes, at most, memory is allocated at a time: as many as fill one of the sizes in which Go allocates.
const nodesAtOnce = 87

func (r *nodeReader) read(rec *session.Record) *node {
	if r.before == nil {
		r.before = &node{}
	}
	if len(r.spare) == 0 {
		r.spare = make([]node, min(max(r.count, 1), nodesAtOnce))
		for i := range r.spare {
			r.spare[i].number = -1 // write before reading, as in idSet.reserve: while garbage is collected, writing a pointer reads the old one first
		}
	}
	n := &r.spare[0]
	r.spare = r.spare[1:]
	n.mending = untouched
	n.Read(rec, &r.before.Facts, &r.Tools)
	r.before = n
	r.count++
	return n
}

// Decoder is the Decoder, which also reads records of the tree where their lines are scanned.
type Decoder struct{ format.Decoder }

// Prepare returns a function that reads records of the tree, one after the other, into Record.Prepared. It may run on another
// goroutine than the checker.
func (Decoder) Prepare() func(*session.Record) {
	r := &nodeReader{}
	return func(rec *session.Record) {
		if format.InTree(rec) {
			rec.Prepared = r.read(rec)
		}
	}
}

// stands sets what is known only when a record's place is: the place itself, and how its line was repaired.
func (n *node) stands(rec *session.Record) {
	n.Place.Set(rec)
	n.mended, n.torn = rec.Mended, rec.Torn
}

// mending is what few records have: how hist has changed one, or that it has added it, and what is odd about it beside others. Read its
// members as the node's own, but call change before you write one.
type mending struct {
	renamed *string      // the parent's id in the file, if the record names another now
	moves   []move       // its changes of parent, and for which findings
	named   *draft       // the finding that gives it another id
	dropped *draft       // the finding that removes it
	new     *format.Made // set if hist wrote the record
	edit    placed

	again     bool  // a copy of an earlier record under another id, in a conversation that was written anew
	anew      bool  // one of the records that a client has written once more at one moment, behind an answer that had come in one piece
	replaced  bool  // a later copy is read in its place
	firstLine int64 // of the first copy that it is read in place of
	sharesID  bool  // a later, different record has the same id
	wrongID   bool
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
