package mend

import (
	"slices"

	"github.com/hist-cli/hist/internal/agent/claude/content"
	"github.com/hist-cli/hist/internal/agent/claude/evidence"
	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/session"
)

// recordTree is the records of the conversation, and how they hang on each other.
type recordTree struct {
	nodes         []*node // in the order of the file
	reader        nodeReader
	added         []*node // records of hist's own
	numbers       int     // how many records were ever numbered, removed ones included
	changes       int     // how often the tree was changed
	climbed       int     // steps that wouldCircle has taken so far
	some          some    // which rare things there are among the records
	ids           recordIDs
	byTime        []*node // those of the main conversation
	atTime        map[int64][]*node
	cwds          cwds
	copies        map[session.Pos][]session.Pos // the places of a record's copies, byte for byte the same
	repeated      *draft                        // the finding about all copies
	saidBefore    map[*node]*node               // earlier copies with the same message and another parent, by the copy that is used; and of what clients do not read
	saidFirst     map[uint64]*node              // the first record with a message, by the sum of its bytes
	namers        map[string][]*node            // records by the ids that they name as parent or source
	aside         bool                          // some record did not hang on what stands in front of it when all were linked
	rewinders     map[*node]bool                // prompts with which the user went back to an older record
	openings      map[*node]string              // how prompts without a parent begin
	marks         []*node                       // of compactions, once they are asked for
	keepers       map[string]*node              // see keeperOf; once it is asked for
	brought       map[*node]bool                // turns that hist moved from above a compaction to below it
	firstPrompt   *node                         // of the file
	foreignPrompt *node                         // see foreign; once it is asked for
	foreignKnown  bool
	waiting       *node     // the first of the prompts with which the session ends, which hist has restored from the queue in which they waited
	lastCopied    *node     // the message whose copy comes last in the file
	linked        bool      // the children of all records are known
	parentsBehind bool      // some record's parent stands behind it in the file
	answering     answering // the answer that came last
	firstAnswer   *node     // the first answer of the file
	lastSaid      *node     // the last record that is more than an output
	closed        closed    // the record whose calls were closed last
	promptAt      []int     // the places of the prompts among the records, once they are asked for
}

// sideRecords is what records outside the tree say about it.
type sideRecords struct {
	echoes    []evidence.Echo          // in the order of the file
	told      map[*node]*evidence.Echo // see promptAbove; once it is asked for
	typedUsed map[int]bool             // which of Beside.Typed were put back
	titled    []string                 // the ends of older sessions, as the records in front of the conversation name them
	leaf      string                   // the end of the session, as the last last-prompt record names it
	leafAt    finding.Ref
	ends      []namedEnd             // the ends that last-prompt records have named, in the order of the file
	endMap    map[string]session.Pos // where each end was first named; once it is asked for
	pointed   bool                   // hist has added a last-prompt record
	choice    choice                 // the last choice of a branch that is recorded
	named     bool                   // the client has thought of a title, which it does once something was said
	warmUps   int                    // the prompts with which a client has tried its sub-agents when it started
	snapshots map[string]bool        // the prompts for which the client has kept files
	queued    []queueRecord          // where prompts are announced
	queue     queue
	sessions  []string      // the sessions that wrote bookkeeping, the newest last
	rewinds   []session.Pos // where the client has noted a rewind
}

// brokenLines are the lines in which the normalizer found something wrong.
type brokenLines struct {
	dead       []session.Pos    // unreadable lines
	sides      []session.Pos    // the lines between the two sides of marked conflicts
	zeros      bool             // NULs stand where a record was
	trifles    map[int64]string // unreadable lines that were bookkeeping, with the record's type
	other      map[int64]bool   // repaired lines that are bookkeeping
	half       map[int64]bool   // unreadable lines that hold a part of a record of the conversation
	begun      finding.Ref      // the last line that holds no more than the beginning of a record of the tree
	cut        map[*node]int    // records that were cut off and that hist has closed, or of which NULs hid a part, with their length in bytes then
	holed      map[*node]hole   // the latter
	led        map[int64]led    // lines that begin with a whole record, on which others follow
	garbled    []garbled        // prompts with bytes that are not UTF-8
	pieces     evidence.Pieces  // whole blocks of the conversation in unreadable lines
	begunIDs   map[*node]string // for records that were cut off within their ids: what is left of the id
	missingIDs []string         // ids that are named but that no record has, sorted; once they are asked for
}

// callPairs are the calls and their outputs, by their ids.
type callPairs struct {
	called, answers idSet           // the ids of all calls and of all outputs so far, those of sub-agents included
	oddIDs          bool            // the API would refuse some of the ids
	badCalls        map[string]bool // calls with a bad name or input, to be restored from their structured results

	callMap   map[string]*node
	resultMap map[string][]*node
	asked     callBlocks // the blocks of the record whose calls were last asked for
}

// fileFacts are about the file as a whole.
type fileFacts struct {
	last          finding.Ref // of the readable records
	copied        int64       // how many records are of types that a resume copies into a file of its own
	written       string      // the newest version that wrote a record
	unsigned      *bool       // see neverSigned, once it is asked for
	unsignedTold  bool
	moreThanEmpty map[*node]bool // see saysMore, of those it was asked for
	endsForeign   *bool          // a model of another maker said the newest answer, once it is asked for
	newest        int64          // the latest time of a message, milliseconds since 1970, once it is asked for
	filed         []filed
}

// verdict is what was found, and what is sent once that is mended.
type verdict struct {
	found                []*draft
	listed               map[*finding.Rule]int // how many of them each rule has, as far as isOnlyCounted was asked
	sentLines, leftLines map[int64]bool
	summaryAt            *session.Pos // where the compaction stands with which what is sent begins; see summary
	sentSet              *nodeSet
	counted              *nodeSet // what is sent of the file as it is
	circled              *nodeSet // the same if the way up leads into a circle of parents; otherwise nil
	mended               *view    // as the tree was last
	wordless             bool     // no message is left of the conversation, only records that the client adds by itself
}

// Summary is what is known of the session as a whole.
type Summary struct {
	// Seen is how many content blocks the client sends of the file as it is, Items how many once all is mended.
	Seen, Items int64
	// Holding is how many records hold content, Reached how many of them the client sends of the file as it is.
	Holding, Reached int
}

// namedEnd is a leaf that a last-prompt record has named.
type namedEnd struct {
	leaf    string
	ref     finding.Ref
	session string
}

// queueRecord is a queue-operation record.
type queueRecord struct {
	finding.Ref
	session string
}

// endedAt is where a last-prompt record named a leaf first.
func (s *sideRecords) endedAt(leaf string) (session.Pos, bool) {
	if s.endMap == nil {
		s.endMap = make(map[string]session.Pos, len(s.ends))
		for _, e := range slices.Backward(s.ends) {
			s.endMap[e.leaf] = e.ref.Pos
		}
	}
	at, ok := s.endMap[leaf]
	return at, ok
}

// draft is a finding whose edits are not all known yet.
type draft struct {
	finding.Finding
	about  *node
	also   []*node // other records that are lost with it, because they hang on the same lost record
	always bool    // it counts even if the record is not sent
	left   bool    // it is about something that is no longer sent, and is not mended
	later  bool    // it is only counted, and mended once those before it are
}

// noMatterIfKept says whether a finding does not matter for a record that is sent only because a compaction has kept it. That
// is so if it is about the record's place among the others. Its id and its type do matter: the client sends all kept records,
// or none if it can't find one.
func (d *draft) noMatterIfKept() bool {
	switch d.Rule {
	case faults.MissingUUID, faults.ReusedUUID, faults.MissingType:
		return false
	}
	return d.Rule.Family == faults.BrokenParent.Family
}

// follows says whether a finding about a record that was cut off only reports what the cut has taken away.
func (d *draft) follows() bool {
	switch d.Rule {
	case faults.MissingType, faults.MissingUUID, faults.MissingTime, faults.LostBranch, faults.WrongLeaf, faults.BrokenParent:
		return true
	}
	return false
}

// some says which rare things there are among a session's records. Most sessions have few, and a step that looks for something
// no record has can skip its walk over all records. A record that was removed still counts.
type some struct {
	side      bool // records of sub-agents
	mended    bool // lines that the client can't read
	nameless  bool // records without an id of their own
	mistyped  bool // records whose type is lost or wrong
	odd       bool // records of types that a version of the client may not follow
	untimed   bool // messages without a time
	faults    bool // in a record's content
	pictures  bool
	sideTexts bool // records that say with a text that they are no sub-agent's
	served    bool // calls that the API's own servers ran
	marks     bool // of compactions
	anew      bool // records that a compaction begins with
	bareMarks bool // marks without metadata
	byHand    bool // something that only a user in a terminal does
	keeps     bool // marks that name records which were kept
}

// note takes a record into account.
func (s *some) note(n *node) {
	s.side = s.side || n.Side
	s.mended = s.mended || n.mended
	s.nameless = s.nameless || n.nameless()
	s.mistyped = s.mistyped || n.TypeLost || n.TypeWrong
	s.odd = s.odd || n.Role == content.RoleOther || n.Typ == "progress"
	s.untimed = s.untimed || n.When == 0 && n.HasMessage()
	s.marks = s.marks || n.Role == content.RoleBoundary
	s.anew = s.anew || n.BeginsAnew()
	s.bareMarks = s.bareMarks || n.Bare
	s.byHand = s.byHand || n.ByHand && !n.Side
	if n.Rare != content.Nothing {
		s.faults = s.faults || len(n.Faults) > 0
		s.sideTexts = s.sideTexts || n.SideAt.End > 0
		s.pictures = s.pictures || n.Pictures > 0
		s.served = s.served || len(n.Served) > 0
		s.keeps = s.keeps || len(n.Keeps) > 0
	}
}
