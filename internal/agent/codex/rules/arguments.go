package rules

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/api"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/normalize"
	"github.com/hist-cli/hist/internal/session"
)

// limitsOfOutput are what the API is known to refuse in an output.
var limitsOfOutput = api.LimitsOf("function_call_output", "output")

// shownOfOversize is how many bytes of an oversize output's head and of its tail are kept.
const shownOfOversize = 64 << 10

var (
	ruleOversizeCall = texts.Rule(finding.Rule{Name: "oversize-call", Family: "calls", Impact: finding.Rejects, Fix: finding.StandIn})
	ruleBadArguments = texts.Rule(finding.Rule{Name: "bad-arguments", Family: "calls", Impact: finding.Loses, Fix: finding.Exact})
	ruleBadToolName  = texts.Rule(finding.Rule{Name: "bad-tool-name", Family: "calls", Impact: finding.Rejects, Fix: finding.Exact})
)

// argumentChecker looks at the text of single calls and outputs.
type argumentChecker struct {
	run    *run
	reader *codex.ArgumentReader

	lost     map[string]*lostArguments // by call_id, until an event tells them
	bad      map[string]session.Pos    // by call_id: arguments that are not JSON
	unparsed []session.Pos             // those of them that the client itself could not read when the model called
	accepted map[session.Pos]bool      // those of them after which the model answered all the same
	names    map[string]bool           // of tools that the model has called
}

func newArgumentChecker(s *run) argumentChecker {
	return argumentChecker{
		run: s, reader: codex.NewArgumentReader(), lost: map[string]*lostArguments{}, bad: map[string]session.Pos{}, accepted: map[session.Pos]bool{}, names: map[string]bool{},
	}
}

// lostArguments are those of a call that can't be read, or of which a damaged line has left nothing.
type lostArguments struct {
	tool    string
	text    string          // what there is of them, if it is JSON
	nuls    int             // how many were taken out of that
	finding finding.Finding // what is to be reported if nothing tells them
}

// filled are the arguments with the holes in their texts filled by what an event tells of them; all of what it tells if there are none. It
// is empty if they have no such hole.
func (l *lostArguments) filled(told string) string {
	if l.text == "" {
		return told
	}
	whole, nuls, from := gjson.Parse(told).Map(), l.nuls, 0
	var arguments strings.Builder
	gjson.Parse(l.text).ForEach(func(key, left gjson.Result) bool {
		if text := whole[key.Str]; left.Type == gjson.String && text.Type == gjson.String && normalize.Fills(text.Str, left.Str, nuls) {
			arguments.WriteString(l.text[from:left.Index] + text.Raw)
			nuls, from = nuls-(len(text.Str)-len(left.Str)), left.Index+len(left.Raw)
		}
		return true
	})
	if from > 0 {
		arguments.WriteString(l.text[from:])
	}
	return arguments.String()
}

func (c *argumentChecker) check(rec *session.Record) {
	if rec.Sound && rec.Holed == 0 {
		c.called(codex.Literal(rec, codex.FieldName))
		return
	}
	c.name(rec)
	switch rec.Type {
	case "response_item/function_call":
		c.arguments(rec)
	case "response_item/custom_tool_call":
		if text := c.tooLong(rec, codex.FieldInput, codex.LimitsOfInput); text != nil {
			c.oversize(rec, codex.FieldInput, text, fmt.Sprintf("[hist: %d characters of input were taken out; the API takes no more than %d]", utf8.RuneCount(text), codex.MaxArguments))
		}
	}
}

func (c *argumentChecker) checkOutput(rec *session.Record) {
	if text := c.tooLong(rec, codex.FieldOutput, limitsOfOutput); text != nil {
		head, tail := text[:shownOfOversize], text[len(text)-shownOfOversize:]
		cut := append(append([]byte(nil), jsonl.TrimPartial(head)...), fmt.Sprintf("\n[hist: the middle of this output was taken out; it was %d characters long]\n", utf8.RuneCount(text))...)
		c.oversize(rec, codex.FieldOutput, text, string(append(cut, tail[runeStart(tail):]...)))
	}
}

func runeStart(b []byte) int {
	i := 0
	for i < len(b) && !utf8.RuneStart(b[i]) {
		i++
	}
	return i
}

// tooLong is the text in a field that is longer than the API takes, nil if it is not.
func (c *argumentChecker) tooLong(rec *session.Record, field int, limits *api.Limits) []byte {
	if f, wrong := limits.Wrong(c.run.provider.Name, codex.Field(rec, field)); wrong && f.Mend == "clip" {
		return codex.Text(rec, field)
	}
	return nil
}

func quoted(s string) []byte { return jsonl.AppendQuote(nil, s) }

func (c *argumentChecker) oversize(rec *session.Record, field int, text []byte, replacement string) {
	c.run.Report(spliced(ruleOversizeCall, finding.Rejects, finding.StandIn, rec, field, quoted(replacement), fmt.Sprintf("%d characters: every request with it is refused", utf8.RuneCount(text))))
}

// spliced is a finding about a field. Its edit replaces the field's value; without a replacement, it is only reported.
func spliced(rule *finding.Rule, impact finding.Impact, fix finding.Fix, rec *session.Record, field int, replacement []byte, message string) finding.Finding {
	span := rec.Spans[field]
	f := finding.Finding{Rule: rule, Impact: impact, Fix: fix, Pos: rec.Pos, Offset: rec.Offset + int64(span.Start), Record: rec.Type, Message: message}
	if replacement != nil {
		f.Edits = []finding.Edit{{At: rec.Pos, Op: finding.Splice, Cuts: []finding.Cut{{Start: span.Start, End: span.End, New: replacement}}}}
	}
	return f
}

func (c *argumentChecker) arguments(rec *session.Record) {
	raw := codex.Field(rec, codex.FieldArguments)
	if len(raw) == 0 {
		return
	}
	if text := c.tooLong(rec, codex.FieldArguments, codex.LimitsOfArguments); text != nil {
		c.oversize(rec, codex.FieldArguments, text, fmt.Sprintf(`{"hist_note":"%d characters of arguments were taken out"}`, utf8.RuneCount(text)))
		return
	}
	if raw[0] != '"' {
		rec.Refused = true
		f := spliced(ruleBadArguments, finding.Loses, finding.Exact, rec, codex.FieldArguments, quoted(string(raw)), "the arguments are not a string: the client drops the call and its output")
		f.Unseen = 1 // the output
		c.run.Report(f)
		return
	}
	text, sound := c.reader.Read(raw)
	lost := func(impact finding.Impact, fix finding.Fix, replacement []byte, message string) {
		c.await(rec, spliced(ruleBadArguments, impact, fix, rec, codex.FieldArguments, replacement, message))
	}
	if rec.Holed > 0 && (sound || len(text) == 0) {
		lost(finding.Loses, finding.NoFix, quoted(""), "the arguments of this call are lost, or a part of them")
		l := c.lost[string(rec.CallID)]
		l.text, l.nuls = string(text), rec.Holed
		return
	}
	if sound || len(text) == 0 {
		return
	}
	c.bad[string(rec.CallID)] = rec.Pos
	if end := jsonl.WalkTorn(text); jsonl.LooksTorn(text) && end.InText {
		closed := append(append(jsonl.TrimPartial(text), '"'), end.Closers...)
		if c.reader.IsJSON(closed) {
			lost(finding.Rejects, finding.Exact, quoted(string(closed)), "the arguments are JSON cut short: the API may refuse them")
			return
		}
	}
	lost(finding.Rejects, finding.StandIn, quoted(`{"hist_note":"the arguments of this call were no JSON and were taken out"}`), "the arguments are not valid JSON: the API may refuse them")
}

// await keeps a finding about a call's arguments until an event has told them, or none can any more.
func (c *argumentChecker) await(rec *session.Record, f finding.Finding) {
	if earlier := c.lost[string(rec.CallID)]; earlier != nil {
		c.untold(earlier)
	}
	c.lost[string(rec.CallID)] = &lostArguments{tool: string(codex.Text(rec, codex.FieldName)), finding: f}
}

// told takes the arguments of a call from an event that repeats it.
func (c *argumentChecker) told(rec *session.Record, ev *evidence, naming func() codex.Naming) {
	l := c.lost[string(rec.CallID)]
	if l == nil || rec.Torn || ev.tells&codex.TellsCall == 0 {
		return
	}
	call, err := codex.CallFrom(string(rec.CallID), "function_call_output", naming(), rec.Raw)
	arguments := gjson.GetBytes(call, "payload.arguments").String()
	if l.finding.Fix == finding.NoFix {
		arguments = l.filled(arguments)
	}
	if err != nil || gjson.GetBytes(call, "payload.name").String() != l.tool || arguments == "" || arguments == "{}" {
		return
	}
	l.finding.Fix, l.finding.Source = finding.Recovered, ev.source()
	l.finding.Edits[0].Cuts[0].New = quoted(arguments)
}

// untold reports arguments that no event tells: those that can't be read. Of others nobody knows whether anything is lost.
func (c *argumentChecker) untold(l *lostArguments) {
	if l.finding.Fix != finding.NoFix {
		c.run.Report(l.finding)
	}
}

// end reports the arguments that were not told.
func (c *argumentChecker) end() {
	for _, l := range check.InOrder(c.lost, func(l *lostArguments) session.Pos { return l.finding.Pos }) {
		c.untold(l)
	}
}

// unparsedOutput is how the client's output begins for a call of its own tools whose arguments it can't read.
const unparsedOutput = "failed to parse function arguments"

// answered looks whether the client could not read the arguments itself: then they are as the model wrote them, not damaged.
func (c *argumentChecker) answered(rec *session.Record) {
	at, ok := c.bad[string(rec.CallID)]
	if ok && bytes.HasPrefix(codex.Text(rec, codex.FieldOutput), []byte(unparsedOutput)) {
		c.unparsed = append(c.unparsed, at)
	}
}

// sampled takes a sign of the model's answer: the API has accepted everything in front of it.
func (c *argumentChecker) sampled() {
	for _, at := range c.unparsed {
		c.accepted[at] = true
	}
	c.unparsed = c.unparsed[:0]
}

// settle makes arguments that are not JSON a note if they were sent before, and answered. They are the model's own, so they stay.
func (c *argumentChecker) settle(f *finding.Finding) {
	if f.Rule == ruleBadArguments && c.accepted[f.Pos] {
		f.Impact, f.Fix, f.Edits = finding.Notes, finding.NoFix, nil
		f.Message = "the model wrote arguments that are not valid JSON and was told so; the API accepted them"
	}
}

// unknownTool stands for the name of a tool that is lost.
const unknownTool = "unknown_tool"

func (c *argumentChecker) name(rec *session.Record) {
	fault, wrong := codex.LimitsOfName.Wrong(c.run.provider.Name, codex.Field(rec, codex.FieldName))
	if !wrong {
		c.called(codex.Literal(rec, codex.FieldName))
		return
	}
	if name := c.flipped(codex.Text(rec, codex.FieldName)); name != "" {
		f := spliced(ruleBadToolName, finding.Rejects, finding.Recovered, rec, codex.FieldName, quoted(name), "a call: "+fault.What+": the API refuses it")
		f.Source = "the name of a tool from which it differs in one bit"
		c.run.Report(f)
		return
	}
	name, fix := string(codex.LimitsOfName.Cleaned(codex.Text(rec, codex.FieldName))), finding.Exact
	switch {
	case name == "":
		name, fix = unknownTool, finding.StandIn
	case len(name) > codex.MaxToolName:
		name, fix = name[:codex.MaxToolName], finding.StandIn
	}
	c.run.Report(spliced(ruleBadToolName, finding.Rejects, fix, rec, codex.FieldName, quoted(name), "a call: "+fault.What+": the API refuses it"))
}

// maxToolNames is how many names of tools are remembered: clients offer some dozens.
const maxToolNames = 256

// called notes the name of a tool.
func (c *argumentChecker) called(name []byte) {
	if !c.names[string(name)] && len(c.names) < maxToolNames {
		c.names[string(name)] = true
	}
}

// flipped is the name of a tool that an earlier call of the session has, or with which clients run commands or change files, from which a name
// differs in one bit; "" if there is none.
func (c *argumentChecker) flipped(name []byte) string {
	if len(name) > codex.MaxToolName {
		return ""
	}
	was := bytes.Clone(name)
	for i := range was {
		for bit := byte(1); bit != 0; bit <<= 1 {
			was[i] ^= bit
			if c.names[string(was)] || shellTools[string(was)] || string(was) == "apply_patch" {
				return string(was)
			}
			was[i] ^= bit
		}
	}
	return ""
}
