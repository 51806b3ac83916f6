package codex

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/session"
)

// eventOf is the body of an event, and its type; for an item_completed, those of the item.
func eventOf(event []byte) (ev gjson.Result, kind string) {
	ev = gjson.GetBytes(event, "payload")
	if ev.Get("type").String() == "item_completed" {
		ev = ev.Get("item")
	}
	return ev, ev.Get("type").String()
}

// Naming is how a session names tools.
type Naming struct {
	Shell   string // the tool with which it runs commands, "" if that is not known
	OneWord bool   // a server's tool is mcp__SERVER__TOOL, and not TOOL in the namespace mcp__SERVER
}

// CallFrom rebuilds a lost call from an event that names its tool, command or arguments. outputType is the payload
// type of the output that is left.
func CallFrom(callID, outputType string, naming Naming, evidence []byte) ([]byte, error) {
	stamp := gjson.GetBytes(evidence, "timestamp").String()
	ev, kind := eventOf(evidence)
	switch kind {
	case "CommandExecution", "exec_command_end":
		if !ev.Get("command").IsArray() {
			return nil, fmt.Errorf("the %s names no command", kind)
		}
		name := cmp.Or(naming.Shell, "exec_command")
		return newFunctionCall(stamp, callID, "", name, shellArguments(name, ev)), nil
	case "McpToolCall", "mcp_tool_call_end":
		if inv := ev.Get("invocation"); inv.Exists() {
			ev = inv
		}
		space, name := "mcp__"+ev.Get("server").String(), ev.Get("tool").String()
		switch {
		case ev.Get("server").Str == ownServer:
			space = ""
		case naming.OneWord:
			space, name = "", space+"__"+name
		}
		return newFunctionCall(stamp, callID, space, name, cmp.Or(ev.Get("arguments").Raw, "{}")), nil
	case "ImageView":
		at, err := url.Parse(ev.Get("path").String())
		if err != nil || at.Path == "" {
			return nil, errors.New("the ImageView names no file")
		}
		return newFunctionCall(stamp, callID, "", "view_image", `{"path":`+string(quote(at.Path))+`}`), nil
	case "DynamicToolCall", "dynamic_tool_call_response":
		return newFunctionCall(stamp, callID, "", ev.Get("tool").String(), cmp.Or(ev.Get("arguments").Raw, "{}")), nil
	case "FileChange", "patch_apply_end":
		patch := patchOf(ev.Get("changes"))
		if outputType == "custom_tool_call_output" {
			return newCustomCall(stamp, callID, "apply_patch", patch), nil
		}
		return newFunctionCall(stamp, callID, "", "apply_patch", `{"input":`+string(quote(patch))+`}`), nil
	}
	return nil, fmt.Errorf("a %s does not tell the call", kind)
}

// LostCall writes a call of which only the output is left, in a record of that payload type. Its tool does not exist, unless
// the output shows which one was called. Clients send it together with the output, which they would drop without a call.
func LostCall(callID, outputType string, output []byte) []byte {
	stamp := StampOf(output)
	if outputType == "custom_tool_call_output" {
		if files := patchedFiles(output); files != "" {
			return newCustomCall(stamp, callID, "apply_patch", lostPatch+files)
		}
		return newCustomCall(stamp, callID, lostTool, lostCall)
	}
	return newFunctionCall(stamp, callID, "", lostTool, `{"hist_note":`+string(quote(lostCall))+`}`)
}

// patchedFiles are the lines in which apply_patch lists what it has changed, "" if the output is not its own.
func patchedFiles(output []byte) (files string) {
	text := gjson.GetBytes(output, "payload.output").String()
	if inner := gjson.Get(text, "output"); strings.HasPrefix(text, "{") && inner.Type == gjson.String { // the form of clients before 0.120
		text = inner.String()
	}
	_, list, _ := strings.Cut(text, patchDone)
	for line := range strings.Lines(list) {
		if len(line) < 3 || !strings.Contains("AMD", line[:1]) || line[1] != ' ' {
			break
		}
		files += line
	}
	return files
}

// patchDone is what apply_patch writes before the files that it has changed.
const patchDone = "Success. Updated the following files:\n"

const (
	lostTool  = "lost_call"
	lostCall  = "[hist: the session file was damaged here; which tool this call asked, and for what, is lost; its output is not]"
	lostPatch = "[hist: the session file was damaged here; this patch is lost, its output is not; it changed these files]\n"
)

// ownServer is what events name as the server of the client's own tools about servers, such as list_mcp_resources.
const ownServer = "codex"

func newFunctionCall(stamp, callID, space, name, arguments string) []byte {
	return record(stamp, nil, "response_item", jsonObject{
		"type", "function_call", "name", name, "namespace?", space, "arguments", arguments, "call_id", callID,
	})
}

func newCustomCall(stamp, callID, name, input string) []byte {
	return record(stamp, nil, "response_item", jsonObject{
		"type", "custom_tool_call", "status", "completed", "call_id", callID, "name", name, "input", input,
	})
}

// shellArguments writes a command as the arguments of the named shell tool.
func shellArguments(name string, ev gjson.Result) string {
	command := ev.Get("command").Array()
	script := ""
	if n := len(command); n > 0 {
		script = command[n-1].String()
		if n < 2 || !strings.HasPrefix(command[n-2].String(), "-") {
			words := make([]string, n)
			for i, w := range command {
				words[i] = w.String()
			}
			script = strings.Join(words, " ")
		}
	}
	switch name {
	case "shell", "container.exec", "local_shell":
		return `{"command":` + ev.Get("command").Raw + `}`
	case "shell_command":
		return `{"command":` + string(quote(script)) + `}`
	}
	return `{"cmd":` + string(quote(script)) + `}`
}

// patchOf writes the patch that made the changes of a file change event.
func patchOf(changes gjson.Result) string {
	var files []string
	changes.ForEach(func(path, change gjson.Result) bool {
		var b strings.Builder
		switch change.Get("type").String() {
		case "add":
			fmt.Fprintf(&b, "*** Add File: %s\n", path.String())
			for _, l := range strings.Split(strings.TrimSuffix(change.Get("content").String(), "\n"), "\n") {
				b.WriteString("+" + l + "\n")
			}
		case "delete":
			fmt.Fprintf(&b, "*** Delete File: %s\n", path.String())
		default:
			fmt.Fprintf(&b, "*** Update File: %s\n", path.String())
			if to := change.Get("move_path").String(); to != "" {
				fmt.Fprintf(&b, "*** Move to: %s\n", to)
			}
			b.WriteString(strings.TrimSuffix(change.Get("unified_diff").String(), "\n") + "\n")
		}
		files = append(files, b.String())
		return true
	})
	slices.Sort(files)
	return "*** Begin Patch\n" + strings.Join(files, "") + "*** End Patch\n"
}

// MessageFrom rebuilds a lost message from the event that showed it: user_message, agent_message, an item_completed
// with either, or a task_complete that repeats the last answer.
func MessageFrom(evidence []byte) ([]byte, error) {
	stamp := gjson.GetBytes(evidence, "timestamp").String()
	ev, kind := eventOf(evidence)
	role, phase := "assistant", ev.Get("phase").String()
	var parts []part
	switch kind {
	case "user_message":
		role, phase = "user", ""
		parts = append([]part{{Type: "input_text", Text: ev.Get("message").String()}}, images(ev.Get("images"))...)
	case "agent_message":
		parts = []part{{Type: "output_text", Text: ev.Get("message").String()}}
	case "task_complete", "turn_complete":
		phase = ""
		parts = []part{{Type: "output_text", Text: ev.Get("last_agent_message").String()}}
	case "UserMessage":
		role, phase = "user", ""
		for _, c := range ev.Get("content").Array() {
			switch c.Get("type").String() {
			case "text":
				parts = append(parts, part{Type: "input_text", Text: c.Get("text").String()})
			case "image":
				parts = append(parts, part{Type: "input_image", Image: c.Get("image_url").String()})
			}
		}
	case "AgentMessage":
		for _, c := range ev.Get("content").Array() {
			parts = append(parts, part{Type: "output_text", Text: c.Get("text").String()})
		}
	default:
		return nil, fmt.Errorf("a %s shows no message", kind)
	}
	// The client can't read a part with neither.
	parts = slices.DeleteFunc(parts, func(p part) bool { return p.Text == "" && p.Image == "" })
	if len(parts) == 0 {
		return nil, fmt.Errorf("this %s shows neither words nor an image", kind)
	}
	return newMessage(stamp, role, phase, parts), nil
}

type part struct {
	Type  string `json:"type"`
	Text  string `json:"text,omitempty"`
	Image string `json:"image_url,omitempty"`
}

func images(list gjson.Result) []part {
	var parts []part
	for _, url := range list.Array() {
		if strings.HasPrefix(url.String(), "data:") {
			parts = append(parts, part{Type: "input_image", Image: url.String()})
		}
	}
	return parts
}

func newMessage(stamp, role, phase string, parts []part) []byte {
	return record(stamp, nil, "response_item", jsonObject{"type", "message", "role", role, "content", parts, "phase?", phase})
}

// NewTokenCount writes a count of tokens without numbers, with an ordinal unless that is nil: a record that every client can read, and that
// none sends or shows.
func NewTokenCount(timestamp string, ordinal *int64) []byte {
	return record(timestamp, ordinal, "event_msg", jsonObject{"type", "token_count", "info", nil, "rate_limits", nil})
}

// NewTurnAborted writes the end of a turn that was cut, in the client's own form (turn_aborted, reason interrupted).
func NewTurnAborted(turnID, timestamp string) []byte {
	return record(timestamp, nil, "event_msg", turnAborted(turnID))
}

func turnAborted(turnID string) jsonObject {
	return jsonObject{"type", "turn_aborted", "turn_id?", turnID, "reason", "interrupted"}
}

// lostAnswer is the text that tells the model that one of its answers is lost.
const lostAnswer = "[hist: records are lost about here: at least one answer of yours, and what the tools said to it; check the state before you rely on it]"

// LostAnswer writes a message that tells the model that at least one of its answers is missing here.
func LostAnswer(timestamp string) []byte {
	return tellModel(timestamp, lostAnswer)
}

// IsLostAnswer says whether a record is a message that LostAnswer has written.
func IsLostAnswer(rec *session.Record) bool {
	return string(rec.Role) == "developer" && bytes.Contains(FirstText(rec), []byte(lostAnswer))
}

// LostPrompt writes a message that tells the model that a prompt is missing here.
func LostPrompt(timestamp string) []byte {
	return tellModel(timestamp, "[hist: the user's prompt that stood here is lost]")
}

// LostHere writes a message that tells the model that so many records of its session are missing.
func LostHere(timestamp string, records int64) []byte {
	return tellModel(timestamp, fmt.Sprintf(lostHere+" (%d), with whatever was said or done in them; check the state before you rely on it]", records))
}

const lostHere = "[hist: records of this session are lost here"

// IsLostHere says whether a record is a message that LostHere has written.
func IsLostHere(rec *session.Record) bool {
	return string(rec.Role) == "developer" && bytes.Contains(FirstText(rec), []byte(lostHere))
}

// LostPast writes a message that tells the model that what its thread inherited from another one is lost: all of it, or
// everything after this place.
func LostPast(timestamp string) []byte {
	return tellModel(timestamp, "[hist: this thread was forked from another one; the rest of what it inherited is lost from here on, up to where it went on by itself]")
}

// tellModel writes a message that tells the model something about its session.
func tellModel(timestamp, text string) []byte {
	return newMessage(timestamp, "developer", "", []part{{Type: "input_text", Text: text}})
}
