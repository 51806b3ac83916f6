package content

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/api"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// Fault is one thing that is wrong with a record's content, and how to mend it.
type Fault struct {
	Rule     *finding.Rule
	Message  string
	At       int // in bytes from the beginning of the record
	Fix      finding.Fix
	Source   string
	Cuts     []finding.Cut
	Drop     bool // nothing is left of the record without it: the record is removed
	Impact   faults.ByVersion
	Dropped  bool // it is about an empty text of an answer, which some versions don't send anyway
	Blank    bool // that text is white space, not ""
	Unsigned bool // it is about thinking without a signature
	Hollow   bool // it is about a message that holds neither a text nor a list of blocks
	Lost     int64
}

// Placeholders for content that is gone, which tell the model so.
const (
	noWords      = "(no output)"
	LostPrompt   = "[hist: a prompt stood here; its text was lost from the session file]"
	LostHead     = "[hist: this session began before what follows; its beginning was lost from the session file]"
	EmptyPrompt  = "[hist: this prompt is empty in the session file]"
	LostText     = "[hist: the text of this answer is not in the session file]"
	LostResult   = "[hist: the output of this call was lost from the session file; its outcome is unknown. Check the state before running it again.]"
	StoppedCall  = "[hist: the client was stopped while this call ran; its outcome is unknown. Check the state before running it again.]"
	LostInput    = "[hist: what this call was given was lost from the session file]"
	LostToolName = "unknown_tool"
)

// Fault notes that something is wrong with the record, with the impact and the fix that are usual for the rule. What it returns may be changed until
// the next fault is noted.
func (n *Facts) Fault(rule *finding.Rule, at int, message string, cuts ...finding.Cut) *Fault {
	n.Own().Faults = append(n.Faults, Fault{Rule: rule, Message: message, At: at, Fix: rule.Fix, Impact: faults.OnAll(rule.Impact), Cuts: cuts})
	return &n.Faults[len(n.Faults)-1]
}

// hollow notes that a message has another shape than a text or a list of blocks: none of it is sent.
func (f *Fault) hollow() {
	f.Hollow, f.Impact = true, faults.ByVersion{Old: finding.Blocks, Middle: finding.Blocks, Newest: finding.Loses}
}

// Hollow says whether a record of the conversation holds neither a text nor a list of blocks.
func (n *Facts) Hollow() bool {
	return slices.ContainsFunc(n.Faults, func(f Fault) bool { return f.Hollow })
}

func (n *Facts) badMessage(rec *session.Record) {
	if n.inOtherForm(rec) {
		return
	}
	n.NoMessage, n.Empty = true, true
	f := n.Fault(faults.BadMessage, rec.Spans[format.FieldMessage].Start, "the message has no content")
	f.Fix, f.Drop, f.Lost = finding.SetAside, true, 1
	f.hollow()
	n.Own().EmptySpan = rec.Spans[format.FieldContent]
	if raw := format.Field(rec, format.FieldMessage); n.EmptySpan.End == 0 && len(raw) > 2 && raw[0] == '{' {
		n.Own().ContentAt = f.At + 1
	}
}

// loneBlock reads a message whose content is one sound block, and not a list with it: some converters make that of a list of one. It
// says whether that is so.
func (n *Facts) loneBlock(rec *session.Record, with *Tools) bool {
	at := rec.Spans[format.FieldContent]
	v := with.parts.Cut(at.Of(rec.Raw))
	if !knownBlock(string(v.Word(format.KeyType))) {
		return false
	}
	with.add(v, at.Start)
	n.Blocks = with.keepBlocks()
	if faults := len(n.Faults); n.checkBlock(rec, &n.Blocks[0], v, &with.Keeper) || len(n.Faults) > faults {
		n.Own().Faults, n.Blocks = n.Faults[:faults], nil
		return false
	}
	if n.Role == RoleUser && n.Blocks[0].Kind == BlockResult {
		n.Role = RoleResult
	}
	f := n.Fault(faults.BadMessage, at.Start, "the message's content is a block, and not a list with it: none of it is sent",
		finding.Cut{Start: at.Start, End: at.Start, New: []byte("[")}, finding.Cut{Start: at.End, End: at.End, New: []byte("]")})
	f.Fix = finding.Exact
	f.hollow()
	return true
}

// checkText looks at a message that is one string.
func (n *Facts) checkText(rec *session.Record, span jsonl.Span) {
	if format.HasWords(span.Of(rec.Raw)) {
		return
	}
	n.Empty, n.Own().EmptySpan = true, span
	f := n.Fault(faults.EmptyText, span.Start, "the message is empty: the API refuses it")
	f.Fix, f.Drop, f.Lost = finding.SetAside, true, 1
}

// checkBlocks looks at the blocks of a message.
func (n *Facts) checkBlocks(rec *session.Record, with *Tools) {
	if len(n.Blocks) == 0 {
		if n.inOtherForm(rec) {
			return
		}
		n.Empty, n.Own().EmptySpan = true, rec.Spans[format.FieldContent]
		f := n.Fault(faults.BadMessage, rec.Spans[format.FieldContent].Start, "the message has an empty list of content")
		f.Fix, f.Drop, f.Lost = finding.SetAside, true, 1
		f.Impact = faults.ByVersion{Old: finding.Rejects, Middle: finding.Rejects, Newest: finding.Notes}
		return
	}
	dropped, kept := 0, 0
	var gone []int // faults whose mend removes a block
	for i := range n.Blocks {
		before := len(n.Faults)
		if n.checkBlock(rec, &n.Blocks[i], &with.parts.Values[i], &with.Keeper) {
			dropped++
			for at := before; at < len(n.Faults); at++ {
				gone = append(gone, at)
			}
		} else if n.Blocks[i].Kind != BlockThinking {
			kept++
		}
	}
	if dropped == len(n.Blocks) {
		n.Empty, n.Own().EmptySpan = true, rec.Spans[format.FieldContent]
		for _, at := range gone {
			n.Faults[at].Cuts, n.Faults[at].Drop = nil, true
		}
	}
}

// checkBlock looks at one block, given its value, and says whether its mend removes the whole block.
func (n *Facts) checkBlock(rec *session.Record, b *Block, v *format.Value, keep *format.Keeper) bool {
	out := func(rule *finding.Rule, message string, old, newest finding.Impact) bool {
		f := n.Fault(rule, b.Span.From(), message, finding.Cut{Start: b.Span.From(), End: b.Span.To(), Element: true})
		f.Fix, f.Impact = finding.SetAside, faults.ByVersion{Old: old, Middle: old, Newest: newest}
		return true
	}
	kind := v.Word(format.KeyType)
	switch {
	case format.Begins(v.Text, '"') && format.HasWords(v.Text):
		b.Kind = BlockText
		f := n.Fault(faults.BadBlock, b.Span.From(), "a content block is the text alone",
			finding.Cut{Start: b.Span.From(), End: b.Span.To(), New: slices.Concat([]byte(`{"type":"text","text":`), v.Text, []byte("}"))})
		f.Fix, f.Impact = finding.Exact, faults.ByVersion{Old: finding.Rejects, Middle: finding.Blocks, Newest: finding.Loses}
		return false
	case !v.IsObject():
		return out(faults.BadBlock, "a content block is not an object", finding.Blocks, finding.Notes)
	case len(kind) == 0:
		return n.typeless(b, v, keep, out)
	}
	switch b.Kind {
	case BlockText:
		if !format.HasWords(v.Raw(format.KeyText)) {
			return n.textlessBlock(v, out)
		}
	case BlockThinking:
		if problem := n.thinkingProblem(v); problem != "" {
			out(faults.BadThinking, problem, finding.Rejects, finding.Rejects)
			n.Faults[len(n.Faults)-1].Unsigned = len(v.Raw(format.KeySignature)) <= len(`""`)
			return true
		}
	case BlockCall:
		n.checkCall(b, v)
	case BlockResult:
		n.checkResult(rec, b, v)
	case BlockOther:
		switch string(kind) {
		case "image":
			n.checkImage(b.Span.From(), v.Parsed(), "")
			return false
		case "document":
			n.checkDocument(b.Span.From(), v.Parsed())
			return false
		}
		if kind := string(kind); !knownBlock(kind) && !format.NewerThanKnown(n.Version) {
			return n.unknownBlock(b, v, keep, kind, out)
		}
		n.serve(string(kind), v, jsonl.Span{Start: b.Span.From(), End: b.Span.To()})
	}
	n.extraKeys(b, v, kind)
	return false
}

// takeOut notes that a block has to go, given the rule, what is wrong, and what that means to old clients and to the newest.
type takeOut func(rule *finding.Rule, message string, old, newest finding.Impact) bool

// textlessBlock notes a text block without words. The newest client drops such a text; of a prompt that leaves nothing.
func (n *Facts) textlessBlock(v *format.Value, out takeOut) bool {
	newest := finding.Notes
	if n.IsPrompt() && len(n.Blocks) == 1 {
		newest = finding.Loses
	}
	out(faults.EmptyText, "a text block is empty", finding.Rejects, newest)
	f := &n.Faults[len(n.Faults)-1]
	text := v.Raw(format.KeyText)
	f.Fix, f.Dropped, f.Blank = finding.Exact, n.Role == RoleAssistant, len(text) > len(`""`) && text[0] == '"'
	return true
}

// unknownBlock notes a block of a type that no client writes. It says whether the block goes: it stays if its members show what it is.
func (n *Facts) unknownBlock(b *Block, v *format.Value, keep *format.Keeper, kind string, out takeOut) bool {
	what := fmt.Sprintf("a content block of the unknown type %q", Clip(kind))
	shown := shownType(v)
	if known, _ := format.KeysOf([]byte(shown)); shown != "" && v.Keys&^known == 0 {
		n.retype(b, v, keep, shown, what+"; its members tell that it is "+shown, faults.ByVersion{Old: finding.Rejects, Middle: finding.Rejects, Newest: finding.Rejects})
		return false
	}
	return out(faults.BadBlock, what, finding.Rejects, finding.Rejects)
}

// What the API is known to refuse in a call, and in thinking.
var (
	callIDLimits = api.LimitsOf("tool_use", "id").For("anthropic")
	nameLimits   = api.LimitsOf("tool_use", "name").For("anthropic")
	thoughts     = []thoughtMember{
		{"thinking", format.KeySignature, api.LimitsOf("thinking", "signature")},
		{"thinking", format.KeyThinking, api.LimitsOf("thinking", "thinking")},
		{"redacted_thinking", format.KeyData, api.LimitsOf("redacted_thinking", "data")},
	}
)

// thoughtMember is a member of thinking in which something may be refused.
type thoughtMember struct {
	kind   string
	key    format.Key
	limits *api.Limits
}

// IsCallID says whether the API accepts a text as the id of a call.
func IsCallID(id string) bool {
	_, wrong := callIDLimits.WrongText("", id)
	return !wrong
}

// isToolName says whether the API accepts a text as the name of a tool.
func isToolName(name string) bool {
	_, wrong := nameLimits.WrongText("", name)
	return !wrong
}

// thinkingProblem says why the API refuses a thinking block, as far as that can be seen; "" if it does not.
func (n *Facts) thinkingProblem(v *format.Value) string {
	provider := "anthropic"
	if n.Foreign { // another maker's model signs as it likes
		provider = "gateway"
	}
	kind := string(v.Word(format.KeyType))
	for _, m := range thoughts {
		if m.kind == kind {
			if f, wrong := m.limits.Wrong(provider, v.Raw(m.key)); wrong {
				return "a " + strings.Replace(kind, "_", " ", 1) + " block: " + f.What
			}
		}
	}
	return ""
}

// typeless gives a block that has no type the one that its members show.
func (n *Facts) typeless(b *Block, v *format.Value, keep *format.Keeper, out takeOut) bool {
	kind := shownType(v)
	if kind == "" {
		return out(faults.BadBlock, "a content block has no type", finding.Rejects, finding.Loses)
	}
	n.retype(b, v, keep, kind, "a content block has no type; its members tell that it is "+kind, faults.ByVersion{Old: finding.Rejects, Middle: finding.Loses, Newest: finding.Loses})
	return false
}

// shownType is the type that a block's members show, "" if they show none.
func shownType(v *format.Value) string {
	has := func(all ...format.Key) bool { return v.Keys&format.SetOf(all...) == format.SetOf(all...) }
	switch {
	case has(format.KeyResultID):
		return "tool_result"
	case has(format.KeyInput, format.KeyName):
		return "tool_use"
	case has(format.KeyThinking):
		return "thinking"
	case has(format.KeyText) && format.HasWords(v.Raw(format.KeyText)):
		return "text"
	}
	return ""
}

// retype reports a block whose type is missing or wrong, and gives it another.
func (n *Facts) retype(b *Block, cut *format.Value, keep *format.Keeper, kind, message string, impact faults.ByVersion) {
	mend := finding.Cut{Start: b.Span.From() + 1, End: b.Span.From() + 1, New: []byte(`"type":"` + kind + `",`)}
	if t := cut.Parsed().Get("type"); t.Exists() {
		mend = finding.Cut{Start: b.Span.From() + t.Index, End: b.Span.From() + t.Index + len(t.Raw), New: []byte(`"` + kind + `"`)}
	}
	switch kind {
	case "text":
		b.Kind = BlockText
	case "thinking":
		b.Kind = BlockThinking
	case "tool_use":
		b.Kind, b.Name = BlockCall, keep.Name(cut.Word(format.KeyName))
		b.ID, b.Value = keep.ID(cut, format.KeyID, b.Span.From())
	case "tool_result":
		b.Kind = BlockResult
		b.ID, b.Value = keep.ID(cut, format.KeyResultID, b.Span.From())
		if n.Role == RoleUser {
			n.Role = RoleResult
		}
	}
	f := n.Fault(faults.BadBlock, b.Span.From(), message, mend)
	f.Fix, f.Impact = finding.Exact, impact
}

// BlockTypes are the content blocks that the API documents, those of its betas included (November 2026).
var BlockTypes = []string{
	"text", "image", "document", "thinking", "redacted_thinking", "tool_use", "tool_result", "server_tool_use",
	"mcp_tool_use", "mcp_tool_result", "mcp_tool_listing", "search_result", "container_upload", "tool_reference", "browser_state",
	"compaction", "fallback", "mid_conv_system", "tool_addition", "tool_removal",
}

func knownBlock(kind string) bool {
	return slices.Contains(BlockTypes, kind) || strings.HasSuffix(kind, "_tool_result") || strings.HasSuffix(kind, "_tool_use")
}

// extraKeys reports members that the API refuses.
func (n *Facts) extraKeys(b *Block, v *format.Value, kind []byte) {
	known, ok := format.KeysOf(kind)
	if !ok || v.Keys&^known == 0 || format.NewerThanKnown(n.Version) {
		return
	}
	for i := range v.Members {
		m := &v.Members[i]
		if known&(1<<m.Key) != 0 {
			continue
		}
		key := string(v.Name(m))
		cut := session.DropMember(v.Text, "", gjsonPath(key))
		if cut.End == 0 {
			continue
		}
		cut.Start += b.Span.From()
		cut.End += b.Span.From()
		n.Fault(faults.BadBlock, b.Span.From()+m.KeyAt, fmt.Sprintf("a content block has the member %q, which the API does not know", Clip(key)), cut)
	}
}

// gjsonPath is the path that gjson needs to find a key.
func gjsonPath(key string) string {
	var b strings.Builder
	for _, c := range key {
		if strings.ContainsRune(`.*?|#@\!{}[]()=<>%"`, c) {
			b.WriteByte('\\')
		}
		b.WriteRune(c)
	}
	return b.String()
}

// setMember is the cut that gives a block's member a text.
func setMember(block jsonl.Span, v []byte, key, value string) finding.Cut {
	return setRaw(block, v, key, jsonl.AppendQuote(nil, value))
}

// setRaw is the cut that gives a block's member a JSON value.
func setRaw(block jsonl.Span, v []byte, key string, value []byte) finding.Cut {
	cut := session.SetMember(v, "", key, value)
	cut.Start += block.Start
	cut.End += block.Start
	return cut
}

// Clip shortens a name from the file to what a message can show.
func Clip(s string) string {
	if len(s) > 40 {
		s = s[:40]
	}
	return strings.ToValidUTF8(s, "?")
}
