package claude

import (
	"bytes"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent/claude/faults"
	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// checkCall looks at a call's name and input. How to mend them is settled when the call's result is known.
func (n *facts) checkCall(b *block, v *format.Value) {
	if !isToolName(b.name) {
		n.fault(fault{
			rule: faults.BadToolName, message: "the call's tool has no valid name", at: b.span.From(), fix: finding.StandIn,
			cuts: []finding.Cut{setMember(b.span.In(), v.Text, "name", lostToolName)}, impact: faults.OnAll(finding.Rejects),
		})
	}
	if format.Begins(v.Raw(format.KeyInput), '{') {
		return
	}
	input := gjson.ParseBytes(v.Raw(format.KeyInput))
	f := fault{rule: faults.BadInput, message: "the call's input is not an object", at: b.span.From(), impact: faults.OnAll(finding.Rejects)}
	if inner := gjson.Parse(input.String()); input.Type == gjson.String && jsonl.Valid([]byte(input.String())) && inner.IsObject() {
		f.fix = finding.Exact
		f.cuts = []finding.Cut{setRaw(b.span.In(), v.Text, "input", []byte(input.String()))}
	} else {
		f.fix, f.lost = finding.StandIn, 1
		note := format.Object{"note": lostInput}
		if input.Type == gjson.String && input.String() != "" {
			note = format.Object{"input": input.String()}
		}
		f.cuts = []finding.Cut{setRaw(b.span.In(), v.Text, "input", note.JSON())}
	}
	n.fault(f)
}

// noSuchTool begins what a client answers to a call of a tool that it does not have; the tool's name follows.
const noSuchTool = `"<tool_use_error>Error: No such tool available: `

// madeUp says whether the model itself gave a call the name that a fault is about: the client has told it that there is no such tool, and
// the API has gone on behind that (seen in 2.1.49).
func (c *Checker) madeUp(n *node, f *fault) bool {
	if f.rule != faults.BadToolName {
		return false
	}
	for i := range n.blocks {
		b := &n.blocks[i]
		if b.kind != blockCall || b.span.From() != f.at || b.name == "" {
			continue
		}
		return slices.ContainsFunc(c.results()[b.id], func(m *node) bool {
			return m.noSuch != "" && strings.HasPrefix(m.noSuch, b.name) && c.modelSpoke(m.index+1)
		})
	}
	return false
}

// modelSpoke says whether a model has answered soon behind a place among the records.
func (c *Checker) modelSpoke(from int) bool {
	return slices.ContainsFunc(c.nodes[min(from, len(c.nodes)):min(len(c.nodes), from+maxSiblings)], func(m *node) bool {
		return m.role == roleAssistant && !m.side && !m.synthetic && !m.filler
	})
}

// checkResult looks at what a tool answered.
func (n *facts) checkResult(rec *session.Record, b *block, v *format.Value) {
	content := v.Raw(format.KeyContent)
	if name, ok := bytes.CutPrefix(content, []byte(noSuchTool)); ok && v.IsTrue(format.KeyError) {
		n.own().noSuch = string(format.WordOf(slices.Concat([]byte{'"'}, name)))
	}
	bad := func(message string, where jsonl.Span, in []byte, member string) {
		words, source := toldBeside(format.Field(rec, format.FieldToolResult))
		f := fault{
			rule: faults.BadResult, message: message, at: b.span.From(), fix: finding.Recovered, source: source,
			impact: faults.OnAll(finding.Rejects),
		}
		if source == "" {
			words, f.fix = noWords, finding.StandIn
		}
		f.cuts = []finding.Cut{setMember(where, in, member, words)}
		n.fault(f)
	}
	none := len(content) == 0 || string(content) == "null"
	if v.IsTrue(format.KeyError) && (none || string(content) == `""` || content[0] == '[' && noText(content)) {
		bad("the output is an error without text", b.span.In(), v.Text, "content")
		return
	}
	switch {
	case none || string(content) == `""`:
		n.emptied(rec, b, v)
		return
	case content[0] == '"':
		return
	case content[0] == '{' && knownBlock(gjson.GetBytes(content, "type").String()):
		n.fault(fault{
			rule: faults.BadResult, message: "a tool's output is a block, and not a list with it: what it says is not sent", at: b.span.From(), fix: finding.Exact,
			cuts:   []finding.Cut{setRaw(b.span.In(), v.Text, "content", slices.Concat([]byte("["), content, []byte("]")))},
			impact: faults.ByVersion{Old: finding.Blocks, Middle: finding.Loses, Newest: finding.Loses},
		})
		return
	case content[0] != '[':
		n.wordless(b, setMember(b.span.In(), v.Text, "content", string(content)), "a tool's output is neither words nor a list of blocks")
		return
	}
	start := b.span.From() + v.At(format.KeyContent)
	gjson.ParseBytes(content).ForEach(func(_, c gjson.Result) bool {
		part, at := format.ValueOf([]byte(c.Raw)), start+c.Index
		if !part.IsObject() {
			n.wordless(b, finding.Cut{Start: at, End: at + len(c.Raw), New: format.Object{"type": "text", "text": c.String()}.JSON()}, "a block of a tool's output is not an object")
			return true
		}
		switch string(part.Word(format.KeyType)) {
		case "text":
			if !format.HasWords(part.Raw(format.KeyText)) {
				bad("an empty text in a tool's output", jsonl.Span{Start: at, End: at + len(c.Raw)}, part.Text, "text")
			}
		case "image":
			n.checkImage(at, part.Parsed(), gjson.GetBytes(format.Field(rec, format.FieldToolResult), "file.base64").String())
		case "document":
			n.checkDocument(at, part.Parsed())
		}
		return true
	})
}

// emptied reports an output without words whose tool's own result tells what they were, and one that is null.
func (n *facts) emptied(rec *session.Record, b *block, v *format.Value) {
	words := toldContent(format.Field(rec, format.FieldToolResult), n.Version)
	f := fault{
		rule: faults.BadResult, message: "the output is empty, though the tool's own result tells what it said", at: b.span.From(), fix: finding.Recovered,
		source: "the tool's structured result", impact: faults.OnAll(finding.Loses),
	}
	switch {
	case words != nil:
		f.cuts = []finding.Cut{setRaw(b.span.In(), v.Text, "content", words)}
	case len(v.Raw(format.KeyContent)) > 0 && string(v.Raw(format.KeyContent)) == "null":
		f.message, f.fix, f.source, f.lost = "the output is null: clients send that, and the API wants a text or a list", finding.StandIn, "", 1
		f.impact, f.cuts = faults.OnAll(finding.Rejects), []finding.Cut{setMember(b.span.In(), v.Text, "content", lostResult)}
	default:
		return
	}
	n.fault(f)
}

// noText says whether a list of blocks holds no text: of an error, the newest client sends only the texts (measured).
func noText(list []byte) bool {
	none := true
	gjson.ParseBytes(list).ForEach(func(_, b gjson.Result) bool {
		none = b.IsObject() && b.Get("type").String() != "text"
		return none
	})
	return none
}

// wordless reports something in a tool's output that is neither text nor a block; the cut turns it into text.
func (n *facts) wordless(b *block, cut finding.Cut, message string) {
	n.fault(fault{
		rule: faults.BadResult, message: message, at: b.span.From(), fix: finding.Exact, cuts: []finding.Cut{cut},
		impact: faults.OnAll(finding.Rejects),
	})
}

// toldBeside is the output that a tool's structured result shows, and words that say where it was found; "" if it shows none.
func toldBeside(result []byte) (words, source string) {
	told := gjson.ParseBytes(result)
	if told.Type == gjson.String {
		words = strings.TrimPrefix(told.String(), "Error: ")
	} else {
		words = told.Get("stderr").String() + told.Get("stdout").String()
	}
	if strings.TrimSpace(words) == "" {
		return "", ""
	}
	return words, "the tool's structured result"
}
