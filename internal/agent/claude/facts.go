package claude

import (
	"bytes"
	"slices"

	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// recordTree is how the records of the conversation hang together.
type recordTree struct {
	nodes         []*node // in the order of the file
	reader        nodeReader
	added         []*node // records of hist's own
	numbers       int     // of records, those that were dropped since among them
	changes       int     // of the tree
	climbed       int     // so many steps from records to their parents were taken to see that none hangs on itself
	some          some    // of what is rare among them
	ids           recordIDs
	byTime        []*node                       // those of the main conversation
	copies        map[session.Pos][]session.Pos // where a record stands again, byte for byte
	repeated      *draft                        // the finding that tells of those
	saidFirst     map[uint64]*node              // the first record with a message, by the sum of its bytes
	namers        map[string][]*node            // records by the ids that they name
	rewinders     map[*node]bool                // the prompts that began anew from an older record
	openings      map[*node]string              // how prompts without a parent begin
	marks         []*node                       // of compactions, once they are asked for
	brought       map[*node]bool                // turns that were hung behind a compaction that they had been in front of
	firstPrompt   *node                         // of the file
	foreignPrompt *node                         // that was not typed into the client, once it is asked for
	foreignKnown  bool
	againLast     *node // whose copy stands behind all other messages, once it is asked for
	againKnown    bool
	linked        bool    // what hangs on a record is known
	parentsBehind bool    // a record names one that does not stand in front of it
	firstAnswer   *node   // the first answer of the file
	lastSaid      *node   // the last record that is more than an output
	promptAt      []int   // the places of the prompts among the records, once they are asked for
	promptLines   []int64 // and their lines
}

// sideRecords is what the records outside the tree tell.
type sideRecords struct {
	echoes     []echo          // where prompts are told a second time
	told       map[*node]*echo // prompts by the record without a parent that follows them, once they are asked for
	typedUsed  map[int]bool    // which of Beside.Typed were put back
	leaf       string          // as the last last-prompt record names it
	leafAt     finding.Ref
	ends       []namedEnd             // the leaves that last-prompt records have named, in the order of the file
	endMap     map[string]session.Pos // where each was named first, once that is asked for
	pointed    bool                   // a last-prompt record was added
	choice     choice                 // of a branch, the last that was made
	snapshots  map[string]bool        // the prompts for which the client has kept files
	queued     []session.Pos          // where prompts came in
	queuedLast finding.Ref            // the last of them
	rewinds    []session.Pos          // where the client has noted a rewind
}

// brokenLines are the lines on which the normalizer found something.
type brokenLines struct {
	dead       []session.Pos    // unreadable lines
	zeros      bool             // NULs stand where a record was
	trifles    map[int64]string // unreadable lines of bookkeeping, with its type
	other      map[int64]bool   // lines of bookkeeping that can be read
	half       map[int64]bool   // lines with what is left of a record of the conversation
	begun      finding.Ref      // the last line of which only the beginning of a record of the tree is left
	cut        map[*node]int    // records that hist has closed where they were cut, and their bytes then
	garbled    []garbled        // prompts with bytes that are no text
	pieces     pieces           // whole blocks of the conversation in unreadable lines
	begunIDs   map[*node]string // of records that were cut within their ids: what is left of those
	missingIDs []string         // that are named and that no record has, sorted, once they are looked for
}

// callPairs are the calls and their outputs, by their ids.
type callPairs struct {
	called, answers idSet           // the calls and the outputs so far, those of sub-agents among them
	oddIDs          bool            // the API would not take some of the ids
	badCalls        map[string]bool // what was given to them must be had from their results

	callMap   map[string]*node
	resultMap map[string][]*node
	asked     callBlocks // of the record whose calls were asked for last
}

// fileFacts are of the file as a whole.
type fileFacts struct {
	first, last finding.Ref // of the readable records
	records     int
	copied      int    // records of kinds that a resume copies into a file of its own
	written     string // the newest version that wrote a record
	newest      int64  // the latest time of a message, milliseconds since 1970, once it is asked for
}

// verdict is what was found, and what is sent when it is mended.
type verdict struct {
	found                []*draft
	sentLines, leftLines map[int64]bool
	sentSet              *nodeSet
	asItWas              *nodeSet // what is sent of the file as it is, where each record can be read and has its parent; nil else
	circled              *nodeSet // what is sent of the file as it is, where that leads through a circle of parents; nil else
	current              *nodeSet // what is sent as things stand, and when that was
	currentAt            state
	wordless             bool // of a conversation only what the client adds to it is left
}

// Summary is what is known of the session as a whole.
type Summary struct {
	Version string // the newest that wrote a record
	Cwd     string
	Branch  string
	Session string // the id that its records name
	// Seen is the number of content blocks that the client sends of the file as it is, Items of it mended.
	Seen, Items int64
	// Holding is the number of records that hold content, Reached how many of them the client sends of the file as it is.
	Holding, Reached int
}

// namedEnd is a leaf that a last-prompt record has named.
type namedEnd struct {
	leaf string
	at   session.Pos
}

// endedAt is where a last-prompt record named a leaf first.
func (s *sideRecords) endedAt(leaf string) (session.Pos, bool) {
	if s.endMap == nil {
		s.endMap = make(map[string]session.Pos, len(s.ends))
		for _, e := range slices.Backward(s.ends) {
			s.endMap[e.leaf] = e.at
		}
	}
	at, ok := s.endMap[leaf]
	return at, ok
}

// echo is a prompt's text outside its own record.
type echo struct {
	told   string // words reads it
	quoted bool   // it is told as it stands there, in quotes: few are ever asked for
	source string
	at     session.Pos
	late   bool // it stands behind the prompt, not in front
	last   bool
	leaf   string // what was written last when a last-prompt record told it, "" if that is not said
	when   int64  // when it was told; 0 if that is not said
	taken  bool   // it waited for the end of a turn, and was taken back
}

// words are what the prompt says.
func (e *echo) words() string {
	if !e.quoted {
		return e.told
	}
	words, _ := jsonl.Unquote([]byte(e.told))
	return words
}

// shortened says whether a client has cut the end of a prompt off where it tells it again, given that as it stands there.
func shortened(quoted []byte) bool {
	words := quoted[1 : len(quoted)-1]
	if escaped := []byte(`\u`); bytes.Contains(words[max(0, len(words)-len(`\u002e\u002e\u002e`)):], escaped) {
		whole, _ := jsonl.Unquote(quoted)
		words = []byte(whole)
	}
	return bytes.HasSuffix(words, []byte("…")) || bytes.HasSuffix(words, []byte("..."))
}

// draft is a finding whose edits are not all known yet.
type draft struct {
	finding.Finding
	about  *node
	also   []*node // what is lost with it, if that hangs on the same lost record
	always bool    // counts wherever it stands
	left   bool    // it is about what is no longer sent, and is not mended
}

// noMatterIfKept says whether a finding is about a record's place among the others, which is no matter for one that is sent
// because a compaction has kept it. Its id and its type are: of records that were kept all are sent, or none if one can't be
// found.
func (d *draft) noMatterIfKept() bool {
	switch d.Rule {
	case ruleMissingUUID, ruleReusedUUID, ruleMissingType:
		return false
	}
	return d.Rule.Family == ruleBrokenParent.Family
}

// follows says whether a finding about a record that was cut only tells what the cut has taken of it.
func (d *draft) follows() bool {
	switch d.Rule {
	case ruleMissingType, ruleMissingUUID, ruleMissingTime, ruleLostBranch, ruleWrongLeaf, ruleBrokenParent:
		return true
	}
	return false
}
