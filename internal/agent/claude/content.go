package claude

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// fault is one thing that is wrong with a record's content, and how to mend it.
type fault struct {
	rule    *finding.Rule
	message string
	at      int // in bytes from the beginning of the record
	fix     finding.Fix
	source  string
	cuts    []finding.Cut
	drop    bool // nothing is left of the record without it: the record is removed
	impact  faults.ByVersion
	dropped bool // it is about an empty text of an answer, which some versions don't send anyway
	blank   bool // that text is white space, not ""
	lost    int64
}

// Placeholders for content that is gone, which tell the model so.
const (
	noWords      = "(no output)"
	lostPrompt   = "[hist: a prompt stood here; its text was lost from the session file]"
	emptyPrompt  = "[hist: this prompt is empty in the session file]"
	lostText     = "[hist: the text of this answer is not in the session file]"
	lostResult   = "[hist: the output of this call was lost from the session file; its outcome is unknown. Check the state before running it again.]"
	stoppedCall  = "[hist: the client was stopped while this call ran; its outcome is unknown. Check the state before running it again.]"
	lostInput    = "[hist: what this call was given was lost from the session file]"
	lostToolName = "unknown_tool"
)

func (n *facts) fault(f fault) { n.own().faults = append(n.faults, f) }

func (n *facts) badMessage(rec *session.Record) {
	f := fault{
		rule: faults.BadMessage, message: "the message has no content", fix: finding.SetAside, drop: true, lost: 1,
		impact: faults.ByVersion{Old: finding.Blocks, Middle: finding.Blocks, Newest: finding.Loses},
	}
	f.at, n.own().emptySpan = rec.Spans[format.FieldMessage].Start, rec.Spans[format.FieldContent]
	if raw := format.Field(rec, format.FieldMessage); n.emptySpan.End == 0 && len(raw) > 2 && raw[0] == '{' {
		n.own().contentAt = f.at + 1
	}
	n.fault(f)
}

// loneBlock reads a message whose content is one sound block, and not a list with it: some converters make that of a list of one. It
// says whether that is so.
func (n *facts) loneBlock(rec *session.Record, with *tools) bool {
	at := rec.Spans[format.FieldContent]
	v := with.parts.Cut(at.Of(rec.Raw))
	if !knownBlock(string(v.Word(format.KeyType))) {
		return false
	}
	with.add(v, at.Start)
	n.blocks = with.keepBlocks()
	if faults := len(n.faults); n.checkBlock(rec, &n.blocks[0], v, &with.keeper) || len(n.faults) > faults {
		n.own().faults, n.blocks = n.faults[:faults], nil
		return false
	}
	if n.role == roleUser && n.blocks[0].kind == blockResult {
		n.role = roleResult
	}
	n.fault(fault{
		rule: faults.BadMessage, message: "the message's content is a block, and not a list with it: none of it is sent", at: at.Start, fix: finding.Exact,
		cuts:   []finding.Cut{{Start: at.Start, End: at.Start, New: []byte("[")}, {Start: at.End, End: at.End, New: []byte("]")}},
		impact: faults.ByVersion{Old: finding.Blocks, Middle: finding.Blocks, Newest: finding.Loses},
	})
	return true
}

// checkText looks at a message that is one string.
func (n *facts) checkText(rec *session.Record, span jsonl.Span) {
	if format.HasWords(span.Of(rec.Raw)) {
		return
	}
	n.empty, n.own().emptySpan = true, span
	n.fault(fault{
		rule: faults.EmptyText, message: "the message is empty: the API refuses it", at: span.Start, fix: finding.SetAside, drop: true,
		impact: faults.OnAll(finding.Rejects), lost: 1,
	})
}

// checkBlocks looks at the blocks of a message.
func (n *facts) checkBlocks(rec *session.Record, with *tools) {
	if len(n.blocks) == 0 {
		if answer := spelled(format.Field(rec, format.FieldMessage)); answer != nil {
			where := rec.Spans[format.FieldMessage]
			n.fault(fault{
				rule: faults.BadMessage, message: "the message holds an answer's text with each letter as a member of its own: none of it is sent", at: where.Start,
				fix: finding.Recovered, source: "the letters themselves", cuts: []finding.Cut{{Start: where.Start, End: where.End, New: answer}},
				impact: faults.OnAll(finding.Loses),
			})
			n.holds(answer)
			return
		}
		n.empty, n.own().emptySpan = true, rec.Spans[format.FieldContent]
		n.fault(fault{
			rule: faults.BadMessage, message: "the message has an empty list of content", at: rec.Spans[format.FieldContent].Start,
			fix: finding.SetAside, drop: true, impact: faults.ByVersion{Old: finding.Rejects, Middle: finding.Rejects, Newest: finding.Notes}, lost: 1,
		})
		return
	}
	dropped, kept := 0, 0
	var gone []int // faults whose mend removes a block
	for i := range n.blocks {
		before := len(n.faults)
		if n.checkBlock(rec, &n.blocks[i], &with.parts.Values[i], &with.keeper) {
			dropped++
			for at := before; at < len(n.faults); at++ {
				gone = append(gone, at)
			}
		} else if n.blocks[i].kind != blockThinking {
			kept++
		}
	}
	if dropped == len(n.blocks) {
		n.empty, n.own().emptySpan = true, rec.Spans[format.FieldContent]
		for _, at := range gone {
			n.faults[at].cuts, n.faults[at].drop = nil, true
		}
	}
}

// checkBlock looks at one block, given its value, and says whether its mend removes the whole block.
func (n *facts) checkBlock(rec *session.Record, b *block, v *format.Value, keep *format.Keeper) bool {
	out := func(rule *finding.Rule, message string, old, newest finding.Impact) bool {
		n.fault(fault{
			rule: rule, message: message, at: b.span.From(), fix: finding.SetAside, impact: faults.ByVersion{Old: old, Middle: old, Newest: newest},
			cuts: []finding.Cut{{Start: b.span.From(), End: b.span.To(), Element: true}},
		})
		return true
	}
	kind := v.Word(format.KeyType)
	switch {
	case format.Begins(v.Text, '"') && format.HasWords(v.Text):
		b.kind = blockText
		n.fault(fault{
			rule: faults.BadBlock, message: "a content block is the text alone", at: b.span.From(), fix: finding.Exact,
			cuts:   []finding.Cut{{Start: b.span.From(), End: b.span.To(), New: slices.Concat([]byte(`{"type":"text","text":`), v.Text, []byte("}"))}},
			impact: faults.ByVersion{Old: finding.Rejects, Middle: finding.Blocks, Newest: finding.Loses},
		})
		return false
	case !v.IsObject():
		return out(faults.BadBlock, "a content block is not an object", finding.Blocks, finding.Notes)
	case len(kind) == 0:
		return n.typeless(b, v, keep, out)
	}
	switch b.kind {
	case blockText:
		if !format.HasWords(v.Raw(format.KeyText)) {
			return n.textlessBlock(v, out)
		}
	case blockThinking:
		if problem := n.thinkingProblem(v); problem != "" {
			return out(faults.BadThinking, problem, finding.Rejects, finding.Rejects)
		}
	case blockCall:
		n.checkCall(b, v)
	case blockResult:
		n.checkResult(rec, b, v)
	case blockOther:
		switch string(kind) {
		case "image":
			n.checkImage(b.span.From(), v.Parsed(), "")
			return false
		case "document":
			n.checkDocument(b.span.From(), v.Parsed())
			return false
		}
		if kind := string(kind); !knownBlock(kind) && !format.NewerThanKnown(n.Version) {
			return n.unknownBlock(b, v, keep, kind, out)
		}
		n.serve(string(kind), v, jsonl.Span{Start: b.span.From(), End: b.span.To()})
	}
	n.extraKeys(b, v, kind)
	return false
}

// takeOut notes that a block has to go, given the rule, what is wrong, and what that means to old clients and to the newest.
type takeOut func(rule *finding.Rule, message string, old, newest finding.Impact) bool

// textlessBlock notes a text block without words. The newest client drops such a text; of a prompt that leaves nothing.
func (n *facts) textlessBlock(v *format.Value, out takeOut) bool {
	newest := finding.Notes
	if n.isPrompt() && len(n.blocks) == 1 {
		newest = finding.Loses
	}
	out(faults.EmptyText, "a text block is empty", finding.Rejects, newest)
	f := &n.faults[len(n.faults)-1]
	f.fix, f.dropped, f.blank = finding.Exact, n.role == roleAssistant, len(v.Raw(format.KeyText)) > len(`""`)
	return true
}

// unknownBlock notes a block of a type that no client writes. It says whether the block goes: it stays if its members show what it is.
func (n *facts) unknownBlock(b *block, v *format.Value, keep *format.Keeper, kind string, out takeOut) bool {
	what := fmt.Sprintf("a content block of the unknown type %q", clip(kind))
	if shown := shownType(v); shown != "" && v.Keys&^format.BlockKeys[shown] == 0 {
		n.retype(b, v, keep, shown, what+"; its members tell that it is "+shown, faults.ByVersion{Old: finding.Rejects, Middle: finding.Rejects, Newest: finding.Rejects})
		return false
	}
	return out(faults.BadBlock, what, finding.Rejects, finding.Rejects)
}

// isSignature says whether a text is base64.
func isSignature(text []byte) bool {
	text = bytes.TrimRight(text, "=")
	return len(text) > 0 && !slices.ContainsFunc(text, func(c byte) bool { return !idBytes[c] && c != '+' && c != '/' })
}

// idBytes are the characters that may stand in the id of a call.
var idBytes = func() (t [256]bool) {
	for c := range t {
		c := byte(c)
		t[c] = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
	}
	return t
}()

// isCallID says whether the API accepts a text as the id of a call.
func isCallID(id string) bool {
	for i := range len(id) {
		if !idBytes[id[i]] {
			return false
		}
	}
	return id != ""
}

// isToolName says whether the API accepts a text as the name of a tool.
func isToolName(name string) bool { return len(name) <= 200 && isCallID(name) }

// redacted is what redactors of secrets put in place of a part of a signature.
var redacted = []byte("REDACTED")

// thinkingProblem says why the API refuses a thinking block, as far as that can be seen; "" if it does not.
func (n *facts) thinkingProblem(v *format.Value) string {
	if string(v.Word(format.KeyType)) == "redacted_thinking" {
		if data := v.Raw(format.KeyData); len(data) <= len(`""`) || data[0] != '"' {
			return "a redacted thinking block has no data"
		}
		return ""
	}
	switch sig := v.Raw(format.KeySignature); {
	case len(sig) <= len(`""`) || sig[0] != '"':
		return "a thinking block has no signature"
	case !format.Begins(v.Raw(format.KeyThinking), '"'):
		return "a thinking block has no text member"
	case !n.foreign && !isSignature(format.WordOf(sig)):
		return "a thinking block's signature is not base64"
	case bytes.Contains(sig, redacted):
		return "a part of a thinking block's signature was redacted"
	}
	return ""
}

// typeless gives a block that has no type the one that its members show.
func (n *facts) typeless(b *block, v *format.Value, keep *format.Keeper, out takeOut) bool {
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
func (n *facts) retype(b *block, cut *format.Value, keep *format.Keeper, kind, message string, impact faults.ByVersion) {
	mend := finding.Cut{Start: b.span.From() + 1, End: b.span.From() + 1, New: []byte(`"type":"` + kind + `",`)}
	if t := cut.Parsed().Get("type"); t.Exists() {
		mend = finding.Cut{Start: b.span.From() + t.Index, End: b.span.From() + t.Index + len(t.Raw), New: []byte(`"` + kind + `"`)}
	}
	switch kind {
	case "text":
		b.kind = blockText
	case "thinking":
		b.kind = blockThinking
	case "tool_use":
		b.kind, b.name = blockCall, keep.Name(cut.Word(format.KeyName))
		b.id, b.value = keep.ID(cut, format.KeyID, b.span.From())
	case "tool_result":
		b.kind = blockResult
		b.id, b.value = keep.ID(cut, format.KeyResultID, b.span.From())
		if n.role == roleUser {
			n.role = roleResult
		}
	}
	n.fault(fault{rule: faults.BadBlock, message: message, at: b.span.From(), fix: finding.Exact, cuts: []finding.Cut{mend}, impact: impact})
}

// blockTypes are the content blocks that the API documents, those of its betas included (November 2026).
var blockTypes = []string{
	"text", "image", "document", "thinking", "redacted_thinking", "tool_use", "tool_result", "server_tool_use",
	"mcp_tool_use", "mcp_tool_result", "mcp_tool_listing", "search_result", "container_upload", "tool_reference", "browser_state",
	"compaction", "fallback", "mid_conv_system", "tool_addition", "tool_removal",
}

func knownBlock(kind string) bool {
	return slices.Contains(blockTypes, kind) || strings.HasSuffix(kind, "_tool_result") || strings.HasSuffix(kind, "_tool_use")
}

// extraKeys reports members that the API refuses.
func (n *facts) extraKeys(b *block, v *format.Value, kind []byte) {
	known, ok := format.BlockKeys[string(kind)]
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
		cut.Start += b.span.From()
		cut.End += b.span.From()
		n.fault(fault{
			rule: faults.BadBlock, message: fmt.Sprintf("a content block has the member %q, which the API does not know", clip(key)),
			at: b.span.From() + m.KeyAt, fix: finding.SetAside, cuts: []finding.Cut{cut}, impact: faults.OnAll(finding.Rejects),
		})
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

// clip shortens a name from the file to what a message can show.
func clip(s string) string {
	if len(s) > 40 {
		s = s[:40]
	}
	return strings.ToValidUTF8(s, "?")
}
