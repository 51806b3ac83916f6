package codex

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// In code mode a model has one custom tool, exec, whose input is a script that calls the other tools. What these did is in
// events with ids of their own, between the script's call and its output (measured with 0.155.1, 0.160.0 and 0.169.0). A script
// that takes long is answered "running" and fetched later by a call of the function wait.
const (
	scriptTool = "exec"
	waitTool   = "wait"
)

// nestedPrefix is how the ids of a script's own calls begin; the ids of the model's calls come from the API.
const nestedPrefix = "exec-"

// isNote says whether a script's notify() wrote an output of a custom tool: then it names the tool, which a real output never
// does.
func isNote(rec *session.Record) bool {
	return rec.Family == session.Custom && len(Literal(rec, FieldName)) > 0
}

// IsScript says whether a call runs a script.
func IsScript(tool Tool) bool { return tool.Type == "custom_tool_call" && tool.Name == scriptTool }

// Nested says whether an event is about something that a script ran.
func Nested(rec *session.Record) bool {
	return rec.Kind == session.Evidence && bytes.HasPrefix(rec.CallID, []byte(nestedPrefix))
}

// Awaited is the id of the running script that a call of wait asks for, "" if the record is no such call.
func Awaited(rec *session.Record) string {
	if rec.Type != "response_item/function_call" || string(Literal(rec, FieldName)) != waitTool {
		return ""
	}
	return gjson.GetBytes(Text(rec, FieldArguments), "cell_id").String()
}

var runningCell = regexp.MustCompile(`^Script running with cell ID (\S+)\n`)

// StillRunning is the id of the script that is still running according to an output, "" if it does not say that.
func StillRunning(rec *session.Record) string {
	if m := runningCell.FindStringSubmatch(outputHead(Field(rec, FieldOutput))); m != nil {
		return m[1]
	}
	return ""
}

// Likeness is how likely a script made a call.
type Likeness uint8

// The likenesses.
const (
	Unlike Likeness = iota // the script contains nothing of the call
	Alike                  // the script contains the tool's name, or a command so short that another script may contain it, too
	Same                   // the script contains the command, the arguments or the files
)

// sureText is how many bytes of a text are enough to identify a script that contains it.
const sureText = 8

// Runs says how likely a script made the call that an event shows.
func Runs(script string, rec *session.Record) Likeness {
	item := gjson.GetBytes(rec.Raw, "payload.item")
	if !item.Exists() {
		item = gjson.GetBytes(rec.Raw, "payload")
	}
	switch command := item.Get("command"); {
	case command.IsArray():
		words := command.Array()
		if len(words) == 0 {
			return Unlike
		}
		return likeness(script, words[len(words)-1].String())
	case item.Get("changes").IsObject():
		best := Unlike
		item.Get("changes").ForEach(func(path, _ gjson.Result) bool {
			name := path.String()
			best = max(best, likeness(script, name[strings.LastIndexAny(name, `/\`)+1:]))
			return best < Same
		})
		return best
	}
	if inv := item.Get("invocation"); inv.Exists() {
		item = inv
	}
	if !strings.Contains(script, item.Get("tool").String()) {
		return Unlike
	}
	held, asked := Alike, 0
	item.Get("arguments").ForEach(func(_, v gjson.Result) bool {
		if v.Type == gjson.String {
			if asked++; !holdsText(script, v.String()) {
				held = Unlike
			}
		}
		return held > Unlike
	})
	if held == Alike && asked > 0 {
		return Same
	}
	return held
}

// likeness looks for a text in a script or, if the script writes it differently, for its longer words.
func likeness(script, text string) Likeness {
	if holdsText(script, text) {
		if len(text) < sureText {
			return Alike
		}
		return Same
	}
	like := Unlike
	for _, word := range strings.FieldsFunc(text, notInWord) {
		switch {
		case len(word) < sureText-2:
		case !strings.Contains(script, word):
			return Unlike
		case len(word) >= sureText:
			like = Same
		default:
			like = max(like, Alike)
		}
	}
	return like
}

// notInWord says whether a character separates words. Words consist of characters that every string literal writes alike.
func notInWord(r rune) bool {
	return r >= 0x80 || !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_')
}

// holdsText says whether a script contains a text, as it is or in a string literal.
func holdsText(script, text string) bool {
	quoted := jsonl.AppendQuote(nil, text)
	return strings.Contains(script, text) || strings.Contains(script, string(quoted[1:len(quoted)-1]))
}

// nestedHead is the beginning of an output that hist makes of what a script's tools returned.
const nestedHead = "Script outcome unknown: the session was cut before this call's output was recorded. " +
	"What follows is what the tools that it ran returned, from their own records; what the script made of it, and whether it ran on, is not known. " +
	"Check the state before running it again.\n"

// severalHead is the beginning of one for what may have been several scripts.
const severalHead = "Outcome unknown: the session was damaged here, and whether one script or several ran what follows is not known; their texts and outputs are lost. " +
	"What follows is what the tools returned, from their own records, in their order. Check the state before running it again.\n"

// NestedOutput writes the output of a script, or of several, from the events of what they ran, in the order in which they
// were written.
func NestedOutput(tool Tool, stamp string, several bool, events [][]byte) ([]byte, error) {
	head := nestedHead
	if several {
		head = severalHead
	}
	output := appendText([]byte{'['}, head)
	for _, event := range events {
		if at := gjson.GetBytes(event, "timestamp").String(); at > stamp {
			stamp = at
		}
		output = appendText(append(output, ','), nestedResult(event))
	}
	return NewOutput(tool, stamp, append(output, ']')), nil
}

// CutOutput writes the output of a script that was cut off: own is what is left of it, followed by what the events of the
// script's calls show beyond that.
func CutOutput(tool Tool, stamp string, own []byte, events [][]byte) ([]byte, error) {
	had := gjson.ParseBytes(own)
	words := had.String()
	output := []byte(strings.TrimSuffix(had.Raw, "]"))
	if !had.IsArray() {
		output = appendText([]byte{'['}, words)
	} else {
		words = strings.Join(textsOf(had), "\n")
	}
	told := false
	for _, event := range events {
		text, err := nestedText(event)
		if _, printed, ok := strings.Cut(text, "Output:\n"); err != nil || strings.Contains(words, text) || ok && strings.Contains(words, printed) {
			continue
		}
		text = fmt.Sprintf("[%s%s]\n%s", nestedName(event), nestedAsked(event), text)
		if !told {
			output, told = appendText(append(output, ','), nestedHead), true
		}
		output = appendText(append(output, ','), text)
	}
	return NewOutput(tool, stamp, append(output, ']')), nil
}

// appendText appends one part of an output.
func appendText(list []byte, text string) []byte {
	return append(jsonl.AppendQuote(append(list, `{"type":"input_text","text":`...), text), '}')
}

// nestedResult says what one tool of a script was asked, and what it returned.
func nestedResult(event []byte) string {
	text, err := nestedText(event)
	if err != nil {
		text = "[hist: the session file was damaged here; what this returned is lost]"
	}
	return fmt.Sprintf("[%s%s]\n%s", nestedName(event), nestedAsked(event), text)
}

// nestedText is what one tool of a script returned.
func nestedText(event []byte) (string, error) {
	rebuilt, err := OutputFrom(Tool{Type: "function_call", Name: "exec_command"}, event)
	if err != nil {
		return "", err
	}
	out := gjson.GetBytes(rebuilt, "payload.output")
	if out.IsArray() {
		return strings.Join(textsOf(out), "\n"), nil
	}
	return out.String(), nil
}

// TellsResult says whether a script's output contains what a tool returned according to its event. The text must be long enough
// not to be there by chance.
func TellsResult(output, event []byte) bool {
	text, err := nestedText(event)
	if _, printed, ok := strings.Cut(text, "Output:\n"); ok {
		text = printed
	}
	if text = strings.TrimSpace(text); err != nil || len(text) < sureText {
		return false
	}
	return slices.ContainsFunc(textsOf(gjson.ParseBytes(output)), func(told string) bool { return strings.Contains(told, text) })
}

// textsOf are the texts of an output's parts.
func textsOf(parts gjson.Result) (texts []string) {
	for _, t := range parts.Get("#.text").Array() {
		texts = append(texts, t.String())
	}
	return texts
}

// ScriptOutput says whether an output is that of a script, or of a call that waited for one.
func ScriptOutput(rec *session.Record) bool {
	return (rec.Family == session.Custom || rec.Family == session.Function) && !rec.Note && scriptOutput.MatchString(outputHead(Field(rec, FieldOutput)))
}

var scriptOutput = regexp.MustCompile(`^Script (completed|failed|terminated|running with cell ID \S+)\n`)

// scriptHead is the beginning of a script that stands in for a lost one.
const scriptHead = "// [hist: the session file was damaged here; this call's script is lost, its output is not]\n"

// scriptsHead is the beginning of one that stands in for what may have been several.
const scriptsHead = "// [hist: the session file was damaged here; the scripts that ran are lost, what their tools returned is not; it may have been one script or several]\n"

// ScriptFrom writes the call of a script of which only the output, of that payload type, and the events of what it ran are
// left. The events may be those of several scripts.
func ScriptFrom(callID, outputType, stamp string, several bool, events [][]byte) []byte {
	if outputType != "custom_tool_call_output" {
		return newFunctionCall(stamp, callID, "", waitTool, `{"hist_note":"[hist: the session file was damaged here; what this call asked is lost, its output is not]"}`)
	}
	var text strings.Builder
	head := scriptHead
	if several {
		head = scriptsHead
	}
	text.WriteString(head)
	for _, event := range events {
		if at := gjson.GetBytes(event, "timestamp").String(); at != "" && at < stamp {
			stamp = at
		}
		fmt.Fprintf(&text, "// it ran: %s%s\n", nestedName(event), strings.ReplaceAll(nestedAsked(event), "\n", "\n// "))
	}
	return newCustomCall(stamp, callID, scriptTool, text.String())
}

// nestedName is the tool of an event about a script's call, by the name that scripts use.
func nestedName(event []byte) string {
	ev, kind := eventOf(event)
	switch kind {
	case "CommandExecution", "exec_command_end":
		return "exec_command"
	case "FileChange", "patch_apply_end":
		return "apply_patch"
	case "McpToolCall", "mcp_tool_call_end":
		if inv := ev.Get("invocation"); inv.Exists() {
			ev = inv
		}
		return "mcp__" + ev.Get("server").String() + "__" + ev.Get("tool").String()
	}
	return cmp.Or(ev.Get("tool").String(), kind)
}

// nestedAsked is what the tool of an event was asked, after a space; "" if the event does not show it.
func nestedAsked(event []byte) string {
	ev := gjson.GetBytes(event, "payload")
	if item := ev.Get("item"); item.Exists() {
		ev = item
	}
	if words := ev.Get("command").Array(); len(words) > 0 {
		return " " + words[len(words)-1].String()
	}
	if inv := ev.Get("invocation"); inv.Exists() {
		ev = inv
	}
	if args := ev.Get("arguments"); args.Exists() {
		return " " + args.Raw
	}
	if changes := ev.Get("changes"); changes.IsObject() {
		return " " + strings.TrimSuffix(patchOf(changes), "\n")
	}
	return ""
}

// LostScript is the tool of a script of which only the calls that it made are left. Its id is lost, too, and is made from its
// place.
func LostScript(line int64, nth int32) Tool {
	return Tool{Type: "custom_tool_call", Name: scriptTool, CallID: fmt.Sprintf("call_hist_%d_%d", line, nth)}
}

// StampOf is the time stamp of a record.
func StampOf(record []byte) string { return gjson.GetBytes(record, "timestamp").String() }
