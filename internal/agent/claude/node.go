package claude

import (
	"bytes"
	"hash/maphash"
	"iter"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/internal/sum"
)

// role is what a record is in the conversation.
type role uint8

const (
	roleOther     role = iota // a link of the chain of a type that no version reads; the model is not shown it
	roleUser                  // a prompt, or text that the client wrote in the user's name
	roleResult                // outputs of tools
	roleAssistant             // what the model said
	roleLink                  // system and attachment records: links of the chain
	roleBoundary              // where a compaction begins
)

// facts are what one record of the tree says of itself, without its content. A session may have hundreds of thousands, all kept to the
// end, so they share what many of them have in common, and rare members are stored apart.
type facts struct {
	uuid   string
	parent string // "" for none
	msg    string // id of the API's message that the record is a part of
	source string // uuid of the record with the call, as the result names it
	*format.Kind
	*rare
	blocks []block

	when    int64  // milliseconds since 1970; 0 if the record has no readable time
	sum     uint64 // hash of the record's bytes
	message uint64 // hash of the message's bytes

	start      int32       // where the record's object begins in its line
	parentSpan format.Span // of the value; zero if the key is missing
	uuidSpan   format.Span
	timeSpan   format.Span
	typeSpan   format.Span

	role        role
	side        bool // a sub-agent's
	foreign     bool // said by a model of another maker: its ids are not the API's
	synthetic   bool // never sent: what the client said about an error
	meta        bool // text that the client wrote by itself
	summary     bool // the summary of a compaction
	denied      bool // the user did not let the tool run, or stopped it
	asksNothing bool // text that the client wrote in the user's name although the user asked nothing
	clears      bool // the user made the client forget the conversation: a command, or what it does then
	atStart     bool // what a hook did when a session began, was resumed or cleared
	byHand      bool // something that only a user in a terminal does
	continues   bool // a summary by its first words: see the function of this name
	bare        bool // a compaction's mark without metadata about it
	filler      bool // "No response requested."
	typeLost    bool // the record holds a message, but its type is not one that a client reads
	typeWrong   bool // its type is user, though it holds a part of an answer, or the other way round
	kept        bool // the mark's metadata names messages that were kept
	noMessage   bool // the record has no message, or one without content
	empty       bool // nothing in it is sent
	toolResult  bool // it has a toolUseResult
	over        bool // the client says here how the turn ended
}

// node is a record with its place: in the file, and in the tree once all is mended.
type node struct {
	facts
	*mending

	up *node // the record's parent once all is mended, nil at a root
	siblings
	grafts
	layout
	index  int // among all nodes, in the order of the file
	number int // unique among all records, those that hist added included
	format.Place

	again      bool // a copy of an earlier record under another id, in a conversation that was written anew
	anew       bool // one of the records that a client has written once more at one moment, behind an answer that had come in one piece
	retold     bool // the client wrote it before with the same id and time: 1.0.17 repeats what it says about commands
	replaced   bool // a later copy is read in its place
	mended     bool // the client can't read the line as it is
	torn       bool // the line was cut off, and hist has closed the record there
	wrongID    bool
	sharesID   bool // a later, different record has the same id
	branchDone bool // the branch that begins here has been looked at
}

// block is one content block.
type block struct {
	id    string      // of the call, or of the call that a result answers
	name  string      // of the tool
	span  format.Span // of the block in the record
	value format.Span // of the id in the record, quotes included; zero if it is missing
	kind  blockKind
}

type blockKind uint8

const (
	blockText blockKind = iota
	blockCall
	blockResult
	blockThinking
	blockOther
)

// hasMessage says whether the record is one that holds content of the conversation.
func (n *facts) hasMessage() bool {
	return n.role == roleUser || n.role == roleResult || n.role == roleAssistant
}

// sent says whether a client sends the record if it is on the way up from the tip.
func (n *facts) sent() bool { return n.hasMessage() && !n.synthetic && !n.noMessage }

// isPrompt says whether the record is something that the user said.
func (n *facts) isPrompt() bool { return n.role == roleUser && !n.meta && !n.summary }

// each yields the ids of the blocks of one kind.
func (n *facts) each(kind blockKind) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range n.blocks {
			if n.blocks[i].kind == kind && !yield(n.blocks[i].id) {
				return
			}
		}
	}
}

// says reports whether there is a block of a kind with an id.
func (n *facts) says(kind blockKind, id string) bool {
	for b := range n.blocksOf(id) {
		if b.kind == kind {
			return true
		}
	}
	return false
}

// calls says whether there is a call among the blocks.
func (n *facts) calls() bool {
	return slices.ContainsFunc(n.blocks, func(b block) bool { return b.kind == blockCall })
}

// callsOnce says whether there is a single call among the blocks.
func (n *facts) callsOnce() bool {
	calls := 0
	for i := range n.blocks {
		if n.blocks[i].kind != blockCall {
			continue
		}
		if calls++; calls > 1 {
			return false
		}
	}
	return calls == 1
}

// ids returns the ids of the blocks of one kind.
func (n *facts) ids(kind blockKind) []string {
	var ids []string
	for i := range n.blocks {
		if n.blocks[i].kind == kind {
			ids = append(ids, n.blocks[i].id)
		}
	}
	return ids
}

var nodeSeed = maphash.MakeSeed()

// newNode reads a record of the tree. before is the record in front of it, which usually has the same ids and words.
func newNode(rec *session.Record, before *node) *node {
	n := &node{mending: untouched}
	n.read(rec, &before.facts, &tools{})
	n.stands(rec)
	return n
}

// nodeReader reads records of the tree, one after the other.
type nodeReader struct {
	tools
	before *node  // the newest that was read
	count  int    // how many were
	spare  []node // memory for more: all are kept to the end
}

// nodesAtOnce is for how many nodes, at most, memory is allocated at a time: as many as fill one of the sizes in which Go allocates.
const nodesAtOnce = 83

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
	n.read(rec, &r.before.facts, &r.tools)
	r.before = n
	r.count++
	return n
}

// preparing is the Decoder, which also reads records of the tree where their lines are scanned.
type preparing struct{ format.Decoder }

// Prepare returns a function that reads records of the tree, one after the other, into Record.Prepared. It may run on another
// goroutine than the checker.
func (preparing) Prepare() func(*session.Record) {
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

// tools hold the buffers and caches with which records are read, one after the other.
type tools struct {
	parts  format.Cutter // cuts the blocks of the record at hand
	words  format.Vocabulary
	clock  format.Clock
	keeper format.Keeper // stores what is kept of all records
	blocks []block       // of the record at hand
	room   []block       // memory for the blocks that are kept
}

// add reads a block that stands at a place in the record.
func (t *tools) add(v *format.Value, at int) {
	b := block{kind: blockOther, span: format.SpanOf(jsonl.Span{Start: at, End: at + max(1, len(v.Text))})}
	switch string(v.Word(format.KeyType)) {
	case "text":
		b.kind = blockText
	case "thinking", "redacted_thinking":
		b.kind = blockThinking
	case "tool_use":
		b.kind, b.name = blockCall, t.keeper.Name(v.Word(format.KeyName))
		b.id, b.value = t.keeper.ID(v, format.KeyID, at)
	case "tool_result":
		b.kind = blockResult
		b.id, b.value = t.keeper.ID(v, format.KeyResultID, at)
	}
	t.blocks = append(t.blocks, b)
}

// keepBlocks takes the blocks of a record over.
func (t *tools) keepBlocks() []block {
	if len(t.room) < len(t.blocks) {
		t.room = make([]block, max(len(t.blocks), blocksAtOnce))
		for i := range t.room {
			t.room[i].kind = blockOther // write before reading: see nodeReader.read
		}
	}
	n := copy(t.room, t.blocks)
	kept := t.room[:n:n]
	t.room, t.blocks = t.room[n:], t.blocks[:0]
	return kept
}

// blocksAtOnce is for how many blocks memory is allocated at a time: as many as fill 8 KiB.
const blocksAtOnce = 146

// read fills in what a record says of itself. before are the facts of the record in front of it, which usually has the same ids and words.
func (n *facts) read(rec *session.Record, before *facts, with *tools) {
	n.rare, n.Kind = nothing, with.words.Of(rec)
	n.sum, n.message = sumsOf(rec)
	n.uuid = with.keeper.Decoded(rec, format.FieldUUID)
	if len(format.Field(rec, format.FieldLogicalParent)) > 0 {
		n.own().ref2 = format.Decoded(rec, format.FieldLogicalParent)
	}
	n.parent = with.keeper.As(before.uuid, rec, format.FieldParent)
	n.msg = with.keeper.As(before.msg, rec, format.FieldMessageID)
	n.source = with.keeper.As(n.parent, rec, format.FieldSource)
	n.parentSpan, n.uuidSpan = format.SpanOf(rec.Spans[format.FieldParent]), format.SpanOf(rec.Spans[format.FieldUUID])
	n.typeSpan, n.timeSpan = format.SpanOf(rec.Spans[format.FieldType]), format.SpanOf(rec.Spans[format.FieldTimestamp])
	n.side, n.synthetic, n.meta = format.IsTrue(rec, format.FieldSidechain), format.IsTrue(rec, format.FieldAPIError), format.IsTrue(rec, format.FieldMeta)
	if at := rec.Spans[format.FieldSidechain]; string(format.Field(rec, format.FieldSidechain)) == `"false"` {
		n.own().sideAt = at
	}
	n.summary, n.toolResult = format.IsTrue(rec, format.FieldSummary), len(format.Field(rec, format.FieldToolResult)) > 0
	n.start = int32(max(bytes.IndexByte(rec.Raw, '{'), 0))
	n.when = with.clock.Millis(format.Text(rec, format.FieldTimestamp))
	n.denied = len(format.Text(rec, format.FieldDenial)) > 0
	n.asksNothing = n.Typ == "user" && format.AsksNothing(format.Field(rec, format.FieldContent))
	n.clears = n.asksNothing && format.Clears(format.Field(rec, format.FieldContent))
	n.byHand = n.asksNothing && format.ByHand(format.Field(rec, format.FieldContent))
	if hook := startHook(rec); hook != "" {
		n.atStart, n.clears = true, hook == "SessionStart:clear"
	}
	n.continues = n.Typ == "user" && format.Continues(format.Field(rec, format.FieldContent))
	model := format.Text(rec, format.FieldModel)
	n.foreign = len(model) > 0 && model[0] != '<' && !bytes.Contains(model, []byte("claude"))
	n.over = n.saysOver(rec)
	n.setRole(rec)
	if n.hasMessage() {
		n.readMessage(rec, with)
		with.parts.Done()
	}
}

// sumsOf are the hash of a record and that of its message; each byte is hashed once.
func sumsOf(rec *session.Record) (whole, message uint64) {
	at := rec.Spans[format.FieldMessage]
	message = sum.Quick(nodeSeed, rec.Raw[at.Start:at.End])
	return sum.Quick(nodeSeed, rec.Raw[:at.Start]) + 3*message + 5*sum.Quick(nodeSeed, rec.Raw[at.End:]), message
}

func (n *facts) setRole(rec *session.Record) {
	switch n.Typ {
	case "user":
		if n.role = roleUser; string(format.Text(rec, format.FieldRole)) == "assistant" && format.FromModel(rec) {
			n.role, n.typeWrong = roleAssistant, true
		}
	case "assistant":
		if n.role = roleAssistant; string(format.Text(rec, format.FieldRole)) == "user" && !format.FromModel(rec) {
			n.role, n.typeWrong = roleUser, true
		}
	case "attachment":
		n.role = roleLink
	case "system":
		n.role = roleLink
		if string(format.Text(rec, format.FieldSubtype)) == "compact_boundary" {
			n.role, n.bare = roleBoundary, len(format.Field(rec, format.FieldCompact)) == 0
			n.own().keeps = keptOf(rec)
			n.kept = gjson.GetBytes(format.Field(rec, format.FieldCompact), "preservedMessages").Exists() ||
				gjson.GetBytes(format.Field(rec, format.FieldCompact), "preservedSegment").Exists()
		}
	default: // a client reads only what has a type that it knows
		switch string(format.Text(rec, format.FieldRole)) {
		case "user":
			n.role, n.typeLost = roleUser, true
		case "assistant":
			n.role, n.typeLost = roleAssistant, true
		}
	}
}

// readMessage notes the blocks of a message, and what is wrong with them.
func (n *facts) readMessage(rec *session.Record, with *tools) {
	content := rec.Spans[format.FieldContent]
	raw := format.Field(rec, format.FieldContent)
	switch {
	case len(raw) > 0 && raw[0] == '{' && n.loneBlock(rec, with):
		return
	case len(raw) == 0 || raw[0] != '"' && raw[0] != '[':
		n.noMessage, n.empty = true, true
		n.badMessage(rec)
		return
	case raw[0] == '"':
		with.blocks = append(with.blocks, block{kind: blockText, span: format.SpanOf(content)})
		n.blocks = with.keepBlocks()
		n.checkText(rec, content)
		return
	}
	if v := with.parts.Only(rec); v != nil {
		with.add(v, rec.Spans[format.FieldBlock].Start)
	} else {
		for i := format.PastSpace(raw, 1); i < len(raw) && raw[i] != ']'; i = format.PastSpace(raw, i) {
			if raw[i] == ',' {
				i++
				continue
			}
			v := with.parts.Cut(raw[i:])
			with.add(v, content.Start+i)
			i += max(1, len(v.Text))
		}
	}
	n.blocks = with.keepBlocks()
	if n.role == roleUser && slices.ContainsFunc(n.blocks, func(b block) bool { return b.kind == blockResult }) {
		n.role = roleResult
	}
	n.filler = n.role == roleAssistant && string(format.Text(rec, format.FieldModel)) == format.Synthetic && !n.synthetic
	n.checkBlocks(rec, with)
	n.resultsFirst(rec)
}
