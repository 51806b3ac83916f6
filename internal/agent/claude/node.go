package claude

import (
	"bytes"
	"hash/maphash"
	"iter"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// role is what a record is in the conversation.
type role uint8

const (
	roleOther     role = iota // a link of the chain that the model is not shown, of a type that no version reads
	roleUser                  // a prompt, or text that the client added for the user
	roleResult                // what tools answered
	roleAssistant             // what the model said
	roleLink                  // system and attachment records: links of the chain
	roleBoundary              // where a compaction begins
)

// node is one record of the tree, without its content.
type node struct {
	ref    finding.Ref
	typ    string // as it stands there
	uuid   string
	parent string // "" for none
	role   role
	when   int64  // milliseconds since 1970; 0 if the record has no readable time
	msg    string // id of the API's message that the record is a part of
	source string // uuid of the record with the call, as the result names it
	prompt string // id of the turn
	ref2   string // logicalParentUuid of a boundary
	sum    uint64 // of the record's bytes

	parentSpan  jsonl.Span // of the value; zero if the key is missing
	uuidSpan    jsonl.Span
	timeSpan    jsonl.Span
	blocks      []block
	index       int // among all nodes, in the order of the file
	number      int // its own, among all that the checker has made
	version     string
	side        bool   // a sub-agent's
	foreign     bool   // said by a model of another maker: its ids are not the API's
	synthetic   bool   // never sent: what the client said about an error
	meta        bool   // text that the client made
	summary     bool   // the summary of a compaction
	denied      bool   // the user did not let the tool run, or stopped it
	asksNothing bool   // text that the client wrote where the user asked nothing
	bare        bool   // a compaction's mark that says nothing about it
	filler      bool   // "No response requested."
	typeLost    bool   // the record has no type that a client reads, though it holds a message
	typeWrong   bool   // its type is user, though it holds a part of an answer, or the other way round
	stop        string // why the model stopped, as it stands there
	kept        bool   // compaction metadata names messages that were kept
	noMessage   bool   // the record has no message, or one without content
	empty       bool   // nothing in it is sent
	toolResult  bool   // it has a toolUseResult
	attachment  string
	faults      []fault
	pictures    int          // images in the message
	wide        []picture    // those of them that are too wide among many
	keeps       []keptRecord // what a compaction's mark says that it kept
	message     uint64       // the sum of the message's bytes

	start      int        // where the record's object begins in its line
	typeSpan   jsonl.Span // of the type's value
	rebuilt    *rebuilt   // what the result tells of its call, where that may be needed
	parentWas  string     // as it stands in the file
	up         *node      // what the record hangs on once all is mended, nil at a root
	again      bool       // a copy of an earlier record under another id, in a conversation that was written anew
	moves      []move     // where it was hung, and for which findings
	replaced   bool       // a later copy is read in its place
	mended     bool       // the client can not read the line as it is
	torn       bool       // hist has closed it where its line was cut
	named      *draft     // the finding that gives it another id
	wrongID    bool
	branchDone bool       // the branch that begins here has been looked at
	emptySpan  jsonl.Span // the content of a message with no words in it
	contentAt  int        // where the content of a message that has none would begin; 0 if it has
	dropped    *draft     // the finding that takes it out
	new        *made      // the record is hist's own
	edit       placed
	siblings
	grafts
	layout
}

// placed is where the edit stands that inserts a record of hist's own.
type placed struct {
	in *draft
	at int
}

// block is one content block.
type block struct {
	kind  blockKind
	id    string     // of the call, or of the call that a result answers
	name  string     // of the tool
	span  jsonl.Span // of the block in the record
	value jsonl.Span // of the id in the record, quotes included; zero if it is missing
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
func (n *node) hasMessage() bool {
	return n.role == roleUser || n.role == roleResult || n.role == roleAssistant
}

// sent says whether a client sends the record when it is on the path.
func (n *node) sent() bool { return n.hasMessage() && !n.synthetic && !n.noMessage }

// isPrompt says whether the record is something that the user said.
func (n *node) isPrompt() bool { return n.role == roleUser && !n.meta && !n.summary }

// each is the ids of the blocks of one kind.
func (n *node) each(kind blockKind) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range n.blocks {
			if n.blocks[i].kind == kind && !yield(n.blocks[i].id) {
				return
			}
		}
	}
}

// says says whether there is a block of a kind with an id.
func (n *node) says(kind blockKind, id string) bool {
	return slices.ContainsFunc(n.blocks, func(b block) bool { return b.kind == kind && b.id == id })
}

// has says whether there is a block of a kind.
func (n *node) has(kind blockKind) bool {
	return slices.ContainsFunc(n.blocks, func(b block) bool { return b.kind == kind })
}

// ids returns the ids of the blocks of one kind.
func (n *node) ids(kind blockKind) []string {
	var ids []string
	for i := range n.blocks {
		if n.blocks[i].kind == kind {
			ids = append(ids, n.blocks[i].id)
		}
	}
	return ids
}

// inTree says whether a record belongs to the tree: it names a parent, or is of a type that does.
func inTree(rec *session.Record) bool {
	if len(field(rec, fieldParent)) > 0 {
		return true
	}
	typ := text(rec, fieldType)
	if bytes.IndexByte(typ, '\\') >= 0 {
		typ = []byte(decoded(rec, fieldType))
	}
	switch string(typ) {
	case "user", "assistant":
		return true
	case "system", "attachment":
		return len(text(rec, fieldUUID)) > 0
	}
	return false
}

var nodeSeed = maphash.MakeSeed()

// newNode reads a record of the tree. before is the one in front of it, which mostly says the same of where it belongs.
func newNode(rec *session.Record, before *node) *node {
	n := &node{}
	n.read(rec, before, &cutter{})
	return n
}

// read is newNode for a node that there is.
func (n *node) read(rec *session.Record, before *node, blocks *cutter) {
	n.ref = finding.RefOf(rec)
	n.sum, n.message = sumsOf(rec)
	n.uuid, n.ref2 = decoded(rec, fieldUUID), decoded(rec, fieldLogicalParent)
	n.parent, n.msg, n.source = decodedAs(before.uuid, rec, fieldParent), decodedAs(before.msg, rec, fieldMessageID), decodedAs(before.source, rec, fieldSource)
	n.typ, n.prompt, n.version = decodedAs(before.typ, rec, fieldType), decodedAs(before.prompt, rec, fieldPromptID), decodedAs(before.version, rec, fieldVersion)
	n.attachment, n.stop = decodedAs(before.attachment, rec, fieldAttachment), literalAs(before.stop, rec, fieldStopReason)
	n.parentSpan, n.uuidSpan, n.typeSpan, n.timeSpan = rec.Spans[fieldParent], rec.Spans[fieldUUID], rec.Spans[fieldType], rec.Spans[fieldTimestamp]
	n.side, n.synthetic, n.meta = isTrue(rec, fieldSidechain), isTrue(rec, fieldAPIError), isTrue(rec, fieldMeta)
	n.summary, n.toolResult = isTrue(rec, fieldSummary), len(field(rec, fieldToolResult)) > 0
	n.start, n.mended, n.torn = max(bytes.IndexByte(rec.Raw, '{'), 0), rec.Mended, rec.Torn
	n.when = millisOf(text(rec, fieldTimestamp))
	n.parentWas = n.parent
	n.denied = len(text(rec, fieldDenial)) > 0
	n.asksNothing = n.typ == "user" && asksNothing(field(rec, fieldContent))
	model := text(rec, fieldModel)
	n.foreign = len(model) > 0 && model[0] != '<' && !bytes.Contains(model, []byte("claude"))
	n.setRole(rec)
	if n.hasMessage() {
		n.readMessage(rec, blocks)
		blocks.done()
	}
}

// sumsOf are a record's sum, and that of its message, for which each byte is looked at once.
func sumsOf(rec *session.Record) (whole, message uint64) {
	at := rec.Spans[fieldMessage]
	message = maphash.Bytes(nodeSeed, rec.Raw[at.Start:at.End])
	return maphash.Comparable(nodeSeed, [3]uint64{maphash.Bytes(nodeSeed, rec.Raw[:at.Start]), message, maphash.Bytes(nodeSeed, rec.Raw[at.End:])}), message
}

func (n *node) setRole(rec *session.Record) {
	switch n.typ {
	case "user":
		if n.role = roleUser; string(text(rec, fieldRole)) == "assistant" && fromModel(rec) {
			n.role, n.typeWrong = roleAssistant, true
		}
	case "assistant":
		if n.role = roleAssistant; string(text(rec, fieldRole)) == "user" && !fromModel(rec) {
			n.role, n.typeWrong = roleUser, true
		}
	case "attachment":
		n.role = roleLink
	case "system":
		n.role = roleLink
		if string(text(rec, fieldSubtype)) == "compact_boundary" {
			n.role, n.bare = roleBoundary, len(field(rec, fieldCompact)) == 0
			n.keeps = keptOf(rec)
			n.kept = gjson.GetBytes(field(rec, fieldCompact), "preservedMessages").Exists() ||
				gjson.GetBytes(field(rec, fieldCompact), "preservedSegment").Exists()
		}
	default: // a client reads only what has a type that it knows
		switch string(text(rec, fieldRole)) {
		case "user":
			n.role, n.typeLost = roleUser, true
		case "assistant":
			n.role, n.typeLost = roleAssistant, true
		}
	}
}

// fromModel says whether a message has what only an answer of the API has. Clients go by the record's type alone: a role
// that disagrees with it does no harm (measured with 2.1.330), a type that does makes the one who spoke another.
func fromModel(rec *session.Record) bool {
	return len(field(rec, fieldMessageID)) > 0 || len(field(rec, fieldModel)) > 0
}

// readMessage notes the blocks of a message, and what is wrong with them.
func (n *node) readMessage(rec *session.Record, parts *cutter) {
	content := rec.Spans[fieldContent]
	raw := field(rec, fieldContent)
	switch {
	case len(raw) == 0 || raw[0] != '"' && raw[0] != '[':
		n.noMessage, n.empty = true, true
		n.badMessage(rec)
		return
	case raw[0] == '"':
		n.blocks = []block{{kind: blockText, span: content}}
		n.checkText(rec, content, true)
		return
	}
	results := 0
	gjson.ParseBytes(raw).ForEach(func(_, b gjson.Result) bool {
		at, v := content.Start+b.Index, parts.cut(b.Raw)
		blk := block{kind: blockOther, span: jsonl.Span{Start: at, End: at + len(b.Raw)}}
		switch v.get("type").String() {
		case "text":
			blk.kind = blockText
		case "thinking", "redacted_thinking":
			blk.kind = blockThinking
		case "tool_use":
			blk.kind, blk.name = blockCall, strings.Clone(v.get("name").String())
			blk.id, blk.value = idOf(v.get("id"), at)
		case "tool_result":
			blk.kind = blockResult
			results++
			blk.id, blk.value = idOf(v.get("tool_use_id"), at)
		}
		n.blocks = append(n.blocks, blk)
		return true
	})
	if results > 0 && n.role == roleUser {
		n.role = roleResult
	}
	n.filler = n.role == roleAssistant && string(text(rec, fieldModel)) == synthetic && !n.synthetic
	n.checkBlocks(rec, parts.values)
	n.resultsFirst(rec)
}

// idOf is the id of a call, and where in the record it stands. It shares no memory with the content, of which nothing is kept.
func idOf(v gjson.Result, block int) (string, jsonl.Span) {
	if !v.Exists() || v.Index == 0 {
		return "", jsonl.Span{}
	}
	at := block + v.Index
	return strings.Clone(v.String()), jsonl.Span{Start: at, End: at + len(v.Raw)}
}
