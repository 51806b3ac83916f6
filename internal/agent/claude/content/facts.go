package content

import (
	"bytes"
	"hash/maphash"
	"iter"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// Role is what a record is in the conversation.
type Role uint8

const (
	RoleOther     Role = iota // a link of the chain of a type that no version reads; the model is not shown it
	RoleUser                  // a prompt, or text that the client wrote in the user's name
	RoleResult                // outputs of tools
	RoleAssistant             // what the model said
	RoleLink                  // system and attachment records: links of the chain
	RoleBoundary              // where a compaction begins
)

// Facts are what one record of the tree says of itself, without its content. A session may have hundreds of thousands, all kept to the
// end, so they share what many of them have in common, and rare members are stored apart.
type Facts struct {
	UUID   string
	Parent string // "" for none
	Msg    string // id of the API's message that the record is a part of
	Source string // uuid of the record with the call, as the result names it
	*format.Kind
	*Rare
	Blocks []Block

	When    int64  // milliseconds since 1970; 0 if the record has no readable time
	Sum     uint64 // hash of the record's bytes
	Message uint64 // hash of the message's bytes

	Start      int32       // where the record's object begins in its line
	ParentSpan format.Span // of the value; zero if the key is missing
	UUIDSpan   format.Span
	TimeSpan   format.Span
	TypeSpan   format.Span

	Role        Role
	Side        bool // a sub-agent's
	Foreign     bool // said by a model of another maker: its ids are not the API's
	Synthetic   bool // never sent: what the client said about an error
	Meta        bool // text that the client wrote by itself
	Summary     bool // the summary of a compaction
	Denied      bool // the user did not let the tool run, or stopped it
	AsksNothing bool // text that the client wrote in the user's name although the user asked nothing
	Clears      bool // the user made the client forget the conversation: a command, or what it does then
	AtStart     bool // what a hook did when a session began, was resumed or cleared
	ByHand      bool // something that only a user in a terminal does
	Continues   bool // a summary by its first words: see the function of this name
	Bare        bool // a compaction's mark without metadata about it
	Filler      bool // "No response requested."
	TypeLost    bool // the record holds a message, but its type is not one that a client reads
	TypeWrong   bool // its type is user, though it holds a part of an answer, or the other way round
	Kept        bool // the mark's metadata names messages that were kept
	NoMessage   bool // the record has no message, or one without content
	Empty       bool // nothing in it is sent
	ToolResult  bool // it has a toolUseResult
	Over        bool // the client says here how the turn ended
}

// Block is one content block.
type Block struct {
	ID    string      // of the call, or of the call that a result answers
	Name  string      // of the tool
	Span  format.Span // of the block in the record
	Value format.Span // of the id in the record, quotes included; zero if it is missing
	Kind  BlockKind
}

// BlockKind is what a content block is.
type BlockKind uint8

const (
	BlockText BlockKind = iota
	BlockCall
	BlockResult
	BlockThinking
	BlockOther
)

// HasMessage says whether the record is one that holds content of the conversation.
func (n *Facts) HasMessage() bool {
	return n.Role == RoleUser || n.Role == RoleResult || n.Role == RoleAssistant
}

// Sent says whether a client sends the record if it is on the way up from the tip.
func (n *Facts) Sent() bool { return n.HasMessage() && !n.Synthetic && !n.NoMessage }

// IsPrompt says whether the record is something that the user said.
func (n *Facts) IsPrompt() bool { return n.Role == RoleUser && !n.Meta && !n.Summary }

// Each yields the ids of the blocks of one kind.
func (n *Facts) Each(kind BlockKind) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range n.Blocks {
			if n.Blocks[i].Kind == kind && !yield(n.Blocks[i].ID) {
				return
			}
		}
	}
}

// Says reports whether there is a block of a kind with an id.
func (n *Facts) Says(kind BlockKind, id string) bool {
	for b := range n.BlocksOf(id) {
		if b.Kind == kind {
			return true
		}
	}
	return false
}

// Calls says whether there is a call among the blocks.
func (n *Facts) Calls() bool {
	return slices.ContainsFunc(n.Blocks, func(b Block) bool { return b.Kind == BlockCall })
}

// CallsOnce says whether there is a single call among the blocks.
func (n *Facts) CallsOnce() bool {
	calls := 0
	for range n.Each(BlockCall) {
		if calls++; calls > 1 {
			break
		}
	}
	return calls == 1
}

// IDs returns the ids of the blocks of one kind.
func (n *Facts) IDs(kind BlockKind) []string { return slices.Collect(n.Each(kind)) }

// NodeSeed is what the hashes of this process begin with.
var NodeSeed = maphash.MakeSeed()

// Tools hold the buffers and caches with which records are read, one after the other.
type Tools struct {
	parts  format.Cutter // cuts the blocks of the record at hand
	words  format.Vocabulary
	clock  format.Clock
	Keeper format.Keeper // stores what is kept of all records
	blocks []Block       // of the record at hand; behind them is memory for more
}

// add reads a block that stands at a place in the record.
func (t *Tools) add(v *format.Value, at int) {
	b := t.block(BlockOther, jsonl.Span{Start: at, End: at + max(1, len(v.Text))})
	switch string(v.Word(format.KeyType)) {
	case "text":
		b.Kind = BlockText
	case "thinking", "redacted_thinking":
		b.Kind = BlockThinking
	case "tool_use":
		b.Kind, b.Name = BlockCall, t.Keeper.Name(v.Word(format.KeyName))
		b.ID, b.Value = t.Keeper.ID(v, format.KeyID, at)
	case "tool_result":
		b.Kind = BlockResult
		b.ID, b.Value = t.Keeper.ID(v, format.KeyResultID, at)
	}
}

// block adds a block, to be filled in: it stays where it is until another is added.
func (t *Tools) block(kind BlockKind, at jsonl.Span) *Block {
	if len(t.blocks) == cap(t.blocks) {
		room := make([]Block, max(2*len(t.blocks), blocksAtOnce))
		for i := range room {
			room[i].Kind = BlockOther // write before reading: see nodeReader.read
		}
		t.blocks = room[:copy(room, t.blocks)]
	}
	t.blocks = t.blocks[:len(t.blocks)+1]
	b := &t.blocks[len(t.blocks)-1]
	b.Kind, b.Span = kind, format.SpanOf(at)
	return b
}

// keepBlocks takes the blocks of a record over.
func (t *Tools) keepBlocks() []Block {
	n := len(t.blocks)
	kept := t.blocks[:n:n]
	t.blocks = t.blocks[n:]
	return kept
}

// blocksAtOnce is for how many blocks memory is allocated at a time: as many as fill 8 KiB.
const blocksAtOnce = 146

// Read fills in what a record says of itself. before are the facts of the record in front of it, which usually has the same ids and words.
func (n *Facts) Read(rec *session.Record, before *Facts, with *Tools) {
	n.Rare, n.Kind = Nothing, with.words.Of(rec)
	n.Sum, n.Message = SumsOf(rec)
	n.UUID = with.Keeper.Decoded(rec, format.FieldUUID)
	if len(format.Field(rec, format.FieldLogicalParent)) > 0 {
		n.Own().Ref2 = format.Decoded(rec, format.FieldLogicalParent)
	}
	n.Parent = with.Keeper.As(before.UUID, rec, format.FieldParent)
	n.Msg = with.Keeper.As(before.Msg, rec, format.FieldMessageID)
	n.Source = with.Keeper.As(n.Parent, rec, format.FieldSource)
	n.ParentSpan, n.UUIDSpan = format.SpanOf(rec.Spans[format.FieldParent]), format.SpanOf(rec.Spans[format.FieldUUID])
	n.TypeSpan, n.TimeSpan = format.SpanOf(rec.Spans[format.FieldType]), format.SpanOf(rec.Spans[format.FieldTimestamp])
	n.Side, n.Synthetic, n.Meta = format.IsTrue(rec, format.FieldSidechain), format.IsTrue(rec, format.FieldAPIError), format.IsTrue(rec, format.FieldMeta)
	if at := rec.Spans[format.FieldSidechain]; string(format.Field(rec, format.FieldSidechain)) == `"false"` {
		n.Own().SideAt = at
	}
	n.Summary, n.ToolResult = format.IsTrue(rec, format.FieldSummary), len(format.Field(rec, format.FieldToolResult)) > 0
	n.Start = int32(max(bytes.IndexByte(rec.Raw, '{'), 0))
	n.When = with.clock.Millis(format.Text(rec, format.FieldTimestamp))
	n.Denied = len(format.Text(rec, format.FieldDenial)) > 0
	n.AsksNothing = n.Typ == "user" && format.AsksNothing(format.Field(rec, format.FieldContent))
	n.Clears = n.AsksNothing && format.Clears(format.Field(rec, format.FieldContent))
	n.ByHand = n.AsksNothing && format.ByHand(format.Field(rec, format.FieldContent)) || n.Typ == "system" && string(format.Text(rec, format.FieldSubtype)) == "local_command"
	if hook := startHook(rec); hook != "" {
		n.AtStart, n.Clears = true, hook == "SessionStart:clear"
	}
	n.Continues = n.Typ == "user" && format.Continues(format.Field(rec, format.FieldContent))
	model := format.Text(rec, format.FieldModel)
	n.Foreign = len(model) > 0 && model[0] != '<' && !bytes.Contains(model, []byte("claude"))
	n.Over = n.saysOver(rec)
	if n.Over && n.Typ == "system" {
		if counted := gjson.GetBytes(rec.Raw, "messageCount").Int(); counted > 0 {
			n.Own().Counted = counted
		}
	}
	n.setRole(rec)
	if n.HasMessage() {
		n.readMessage(rec, with)
		with.parts.Done()
	}
}

// SumsOf are the hash of a record and that of its message; each byte is hashed once.
func SumsOf(rec *session.Record) (whole, message uint64) {
	at := rec.Spans[format.FieldMessage]
	message = session.QuickSum(NodeSeed, rec.Raw[at.Start:at.End])
	return session.QuickSum(NodeSeed, rec.Raw[:at.Start]) + 3*message + 5*session.QuickSum(NodeSeed, rec.Raw[at.End:]), message
}

func (n *Facts) setRole(rec *session.Record) {
	switch n.Typ {
	case "user":
		if n.Role = RoleUser; string(format.Text(rec, format.FieldRole)) == "assistant" && format.FromModel(rec) {
			n.Role, n.TypeWrong = RoleAssistant, true
		}
	case "assistant":
		if n.Role = RoleAssistant; string(format.Text(rec, format.FieldRole)) == "user" && !format.FromModel(rec) {
			n.Role, n.TypeWrong = RoleUser, true
		}
	case "attachment":
		n.Role = RoleLink
	case "system":
		n.Role = RoleLink
		if string(format.Text(rec, format.FieldSubtype)) == "compact_boundary" {
			n.Role, n.Bare = RoleBoundary, len(format.Field(rec, format.FieldCompact)) == 0
			n.Own().Keeps, n.Own().Anchor = keptOf(rec)
			n.Kept = gjson.GetBytes(format.Field(rec, format.FieldCompact), "preservedMessages").Exists() ||
				gjson.GetBytes(format.Field(rec, format.FieldCompact), "preservedSegment").Exists()
		}
	default: // a client reads only what has a type that it knows
		switch string(format.Text(rec, format.FieldRole)) {
		case "user":
			n.Role, n.TypeLost = RoleUser, true
		case "assistant":
			n.Role, n.TypeLost = RoleAssistant, true
		}
	}
}

// readMessage notes the blocks of a message, and what is wrong with them.
func (n *Facts) readMessage(rec *session.Record, with *Tools) {
	content := rec.Spans[format.FieldContent]
	raw := format.Field(rec, format.FieldContent)
	switch {
	case len(raw) > 0 && raw[0] == '{' && n.loneBlock(rec, with):
		return
	case len(raw) == 0 || raw[0] != '"' && raw[0] != '[':
		n.badMessage(rec)
		return
	case bytes.HasPrefix(raw, []byte(`"[`)) && n.listInText(rec):
		return
	case raw[0] == '"':
		with.block(BlockText, content)
		n.Blocks = with.keepBlocks()
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
	n.Blocks = with.keepBlocks()
	if n.Role == RoleUser && slices.ContainsFunc(n.Blocks, func(b Block) bool { return b.Kind == BlockResult }) {
		n.Role = RoleResult
	}
	n.Filler = n.Role == RoleAssistant && string(format.Text(rec, format.FieldModel)) == format.Synthetic && !n.Synthetic
	n.checkBlocks(rec, with)
	n.resultsFirst(rec)
}

// BeginsAnew says whether a compaction begins with this record: it is a mark, or a summary as 1.0.17 writes it, without a mark.
func (n *Facts) BeginsAnew() bool { return n.Role == RoleBoundary || n.Continues && n.Parent == "" }

// saysOver says whether a client tells with a record how a turn ended: it prints what a command has given, notes how long the turn took,
// or that the user's limit of turns or a hook has ended it (2.1.100 and 2.1.332, measured; up to 2.1.2 the last two leave no word).
func (n *Facts) saysOver(rec *session.Record) bool {
	switch n.Typ {
	case "attachment":
		kind := string(format.Text(rec, format.FieldAttachment))
		return kind == "max_turns_reached" || kind == "hook_stopped_continuation"
	case "system":
		kind := string(format.Text(rec, format.FieldSubtype))
		return kind == "local_command" || kind == "turn_duration"
	}
	return n.Synthetic || n.Typ == "user" && bytes.HasPrefix(format.Field(rec, format.FieldContent), []byte(format.StoppedByHook))
}

// startHook is the name of a hook that runs when a session starts, if a record tells of one: SessionStart, and why it does. "" if not.
func startHook(rec *session.Record) string {
	var name gjson.Result
	switch kind := format.Text(rec, format.FieldAttachment); {
	case string(format.Text(rec, format.FieldType)) == "progress":
		if data := gjson.GetBytes(rec.Raw, "data.type"); data.String() == "hook_progress" {
			name = gjson.GetBytes(rec.Raw, "data.hookName")
		}
	case bytes.HasPrefix(kind, []byte("hook_")):
		name = gjson.GetBytes(rec.Raw, "attachment.hookName")
	}
	if hook := name.String(); strings.HasPrefix(hook, "SessionStart") {
		return hook
	}
	return ""
}
