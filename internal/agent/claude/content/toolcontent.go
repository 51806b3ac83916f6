package content

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
func (n *Facts) checkCall(b *Block, v *format.Value) {
	if !isToolName(b.Name) {
		n.Fault(faults.BadToolName, b.Span.From(), "the call's tool has no valid name", setMember(b.Span.In(), v.Text, "name", LostToolName))
	}
	if format.Begins(v.Raw(format.KeyInput), '{') {
		return
	}
	input := gjson.ParseBytes(v.Raw(format.KeyInput))
	f := n.Fault(faults.BadInput, b.Span.From(), "the call's input is not an object")
	if inner := gjson.Parse(input.String()); input.Type == gjson.String && jsonl.Valid([]byte(input.String())) && inner.IsObject() {
		f.Cuts = []finding.Cut{setRaw(b.Span.In(), v.Text, "input", []byte(input.String()))}
	} else {
		f.Fix, f.Lost = finding.StandIn, 1
		note := format.Object{"note": LostInput}
		if input.Type == gjson.String && input.String() != "" {
			note = format.Object{"input": input.String()}
		}
		f.Cuts = []finding.Cut{setRaw(b.Span.In(), v.Text, "input", note.JSON())}
	}
}

// noSuchTool begins what a client answers to a call of a tool that it does not have; the tool's name follows.
const noSuchTool = `"<tool_use_error>Error: No such tool available: `

// checkResult looks at what a tool answered.
func (n *Facts) checkResult(rec *session.Record, b *Block, v *format.Value) {
	content := v.Raw(format.KeyContent)
	if name, ok := bytes.CutPrefix(content, []byte(noSuchTool)); ok && v.IsTrue(format.KeyError) {
		n.Own().NoSuch = string(format.WordOf(slices.Concat([]byte{'"'}, name)))
	}
	bad := func(message string, where jsonl.Span, in []byte, member string) {
		words, source := toldBeside(format.Field(rec, format.FieldToolResult))
		fix := finding.Recovered
		if source == "" {
			words, fix = noWords, finding.StandIn
		}
		f := n.Fault(faults.BadResult, b.Span.From(), message, setMember(where, in, member, words))
		f.Fix, f.Source = fix, source
	}
	none := len(content) == 0 || string(content) == "null"
	if v.IsTrue(format.KeyError) && (none || string(content) == `""` || content[0] == '[' && noText(content)) {
		bad("the output is an error without text", b.Span.In(), v.Text, "content")
		return
	}
	switch {
	case none || string(content) == `""`:
		n.emptied(rec, b, v)
		return
	case content[0] == '"':
		return
	case content[0] == '{' && knownBlock(gjson.GetBytes(content, "type").String()):
		f := n.Fault(faults.BadResult, b.Span.From(), "a tool's output is a block, and not a list with it: what it says is not sent",
			setRaw(b.Span.In(), v.Text, "content", slices.Concat([]byte("["), content, []byte("]"))))
		f.Fix, f.Impact = finding.Exact, faults.ByVersion{Old: finding.Blocks, Middle: finding.Loses, Newest: finding.Loses}
		return
	case content[0] != '[':
		n.wordless(b, setMember(b.Span.In(), v.Text, "content", string(content)), "a tool's output is neither words nor a list of blocks")
		return
	}
	start := b.Span.From() + v.At(format.KeyContent)
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
func (n *Facts) emptied(rec *session.Record, b *Block, v *format.Value) {
	if words := Told(rec, n.Version); words != nil {
		f := n.Fault(faults.BadResult, b.Span.From(), "the output is empty, though the tool's own result tells what it said", setRaw(b.Span.In(), v.Text, "content", words))
		f.Fix, f.Source, f.Impact = finding.Recovered, "the tool's structured result", faults.OnAll(finding.Loses)
	} else if string(v.Raw(format.KeyContent)) == "null" {
		n.Fault(faults.BadResult, b.Span.From(), "the output is null: clients send that, and the API wants a text or a list", setMember(b.Span.In(), v.Text, "content", LostResult)).Lost = 1
	}
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
func (n *Facts) wordless(b *Block, cut finding.Cut, message string) {
	n.Fault(faults.BadResult, b.Span.From(), message, cut).Fix = finding.Exact
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
