package codex

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/session"
)

// Tool is what is known of a tool call when its output, or the call itself, must be written anew.
type Tool struct {
	Type   string // payload type of the call: "function_call", "custom_tool_call", "local_shell_call", "tool_search_call"
	Name   string
	CallID string
}

// OutputType is the payload type of the output that answers a call of the given payload type.
func OutputType(callType string) string {
	switch callType {
	case "custom_tool_call":
		return "custom_tool_call_output"
	case "tool_search_call":
		return "tool_search_output"
	}
	return "function_call_output"
}

// NewOutput writes the output record of a call. output is the JSON of its text or list of items.
func NewOutput(tool Tool, timestamp string, output json.RawMessage) []byte {
	kind := OutputType(tool.Type)
	if kind == "tool_search_output" {
		return record(timestamp, nil, "response_item", jsonObject{
			"type", kind, "call_id", tool.CallID, "status", "completed", "execution", "client", "tools", []string{},
		})
	}
	return record(timestamp, nil, "response_item", jsonObject{"type", kind, "call_id", tool.CallID, "output", output})
}

// StandIn writes a placeholder for the output of a call of which nothing is left. It tells the model that the outcome is not
// known, and how to find out.
func StandIn(tool Tool, timestamp string) []byte {
	return NewOutput(tool, timestamp, quote(standInText(tool)))
}

// standInHead is how every stand-in begins, so that it can be told from a tool's own words.
const standInHead = "Outcome unknown: the session was cut before this call's output was recorded. "

func standInText(tool Tool) string {
	name := strings.ToLower(tool.Name)
	switch {
	case strings.Contains(name, "patch") || strings.Contains(name, "write_file") || strings.Contains(name, "edit"):
		return standInHead + "The change may be there wholly, partly or not at all: read the files before applying it again."
	case tool.Type == "local_shell_call" || strings.Contains(name, "shell") || strings.Contains(name, "exec") || name == "write_stdin":
		return standInHead + "The command may have run wholly, partly or not at all, or may still be running: check its effects before running it again."
	case strings.HasPrefix(name, "mcp__") || strings.Contains(name, "__"):
		return standInHead + "The request may have reached the other side: look at the state there before repeating it."
	}
	return standInHead + "The tool may have run: check the state before running it again."
}

// OutputFrom rebuilds the output of a call from an event with the same content (item_completed, exec_command_end,
// mcp_tool_call_end, patch_apply_end or dynamic_tool_call_response), in the form in which the client itself sends that tool's
// output to the model. The error says what the event lacks.
func OutputFrom(tool Tool, evidence []byte) ([]byte, error) {
	stamp := gjson.GetBytes(evidence, "timestamp").String()
	ev, kind := eventOf(evidence)
	var output json.RawMessage
	switch kind {
	case "CommandExecution", "exec_command_end":
		if !ev.Get("aggregated_output").Exists() && !ev.Get("formatted_output").Exists() && !ev.Get("stdout").Exists() {
			return nil, fmt.Errorf("the %s holds no output", kind)
		}
		output = quote(commandText(tool, ev))
	case "FileChange", "patch_apply_end":
		output = quote(patchText(tool, ev))
	case "McpToolCall", "mcp_tool_call_end":
		output = mcpOutput(ev)
	case "DynamicToolCall", "dynamic_tool_call_response":
		output = contentItems(ev.Get("content_items"))
	case "FunctionCallOutput":
		output = json.RawMessage(ev.Get("output").Raw)
	}
	if len(output) == 0 {
		return nil, fmt.Errorf("the %s holds no output", kind)
	}
	return NewOutput(tool, stamp, output), nil
}

// commandText is a command's outcome as the client words it for the tool that ran it: JSON for `shell`, a header
// of lines for the unified `exec_command`, another for `shell_command`.
func commandText(tool Tool, ev gjson.Result) string {
	text := ev.Get("aggregated_output").String()
	if s := ev.Get("formatted_output").String(); s != "" && s != text {
		return s // newer clients repeat the bare text there, without the lines before it
	}
	head, _, cut := strings.Cut(text, session.CutMark)
	if out := ev.Get("stdout").String(); text == "" || cut && ev.Get("stderr").String() == "" && strings.HasPrefix(out, head) {
		text = out + ev.Get("stderr").String() // they stand in front of the text of both, which may have been cut
	}
	exit := exitCode(ev)
	seconds := ev.Get("duration.secs").Float() + ev.Get("duration.nanos").Float()/1e9
	switch tool.Name {
	case "shell", "container.exec", "local_shell", "":
		return structured(text, exit, seconds)
	case "shell_command":
		about := fmt.Sprintf("Wall time: %.1f seconds\nOutput:\n%s", seconds, text)
		if exit != "" {
			about = "Exit code: " + exit + "\n" + about
		}
		return about
	}
	about := fmt.Sprintf("Wall time: %.4f seconds\n", seconds)
	if tool.Name == stdinTool {
		about += waitedHead
	}
	if exit != "" {
		about += "Process exited with code " + exit + "\n"
	} else if ev.Get("status").String() == "failed" {
		about += "Process exited with a code other than 0\n"
	} else if id := ev.Get("process_id").String(); id != "" && !strings.Contains(text, session.CutMark) {
		about += "Process running with session ID " + id + "\n"
	}
	return about + fmt.Sprintf("Original token count: %d\nOutput:\n", (len(text)+3)/4) + text
}

// exitCode is a command's exit code, "" if it is not known: an event that was cut in its text has lost it. Newer clients write in front
// of the text whether the command failed.
func exitCode(ev gjson.Result) string {
	if exit := ev.Get("exit_code"); exit.Type == gjson.Number {
		return strconv.FormatInt(exit.Int(), 10)
	} else if ev.Get("status").String() == "completed" {
		return "0"
	}
	return ""
}

func structured(text, exit string, seconds float64) string {
	if exit != "" {
		exit = `"exit_code":` + exit + ","
	}
	return fmt.Sprintf(`{"output":%s,"metadata":{%s"duration_seconds":%.1f}}`, quote(text), exit, seconds)
}

func patchText(tool Tool, ev gjson.Result) string {
	text := ev.Get("stdout").String()
	ok := ev.Get("success").Bool() || ev.Get("status").String() == "completed"
	exit := "0"
	if !ok {
		exit = "1"
		text = cmp.Or(ev.Get("stderr").String(), text, "The patch was not applied: "+cmp.Or(ev.Get("status").String(), "failed")+".")
	} else if text == "" {
		text = patchDone + changedFiles(ev.Get("changes"))
	}
	switch {
	case tool.Type == "custom_tool_call": // versions whose outputs have another form write no such event
		return "Exit code: " + exit + "\nWall time: 0 seconds\nOutput:\n" + text
	case tool.Name == "shell":
		return structured(text, exit, 0)
	}
	return text
}

func changedFiles(changes gjson.Result) string {
	var b strings.Builder
	changes.ForEach(func(path, change gjson.Result) bool {
		letter := map[string]string{"add": "A", "delete": "D"}[change.Get("type").String()]
		fmt.Fprintf(&b, "%s %s\n", cmp.Or(letter, "M"), path.String())
		return true
	})
	return b.String()
}

func mcpOutput(ev gjson.Result) json.RawMessage {
	result := ev.Get("result")
	if ok := result.Get("Ok"); ok.Exists() {
		result = ok
	} else if failed := result.Get("Err"); failed.Exists() {
		return quote(failed.String())
	}
	if msg := ev.Get("error.message"); msg.Exists() && msg.Type == gjson.String {
		return quote(msg.String())
	}
	if s := result.Get("structuredContent"); s.Exists() && s.Type != gjson.Null {
		return quote(s.Raw)
	}
	return contentItems(result.Get("content"))
}

// contentItems turns what a tool answered into the items of an output; a single text becomes a plain string.
func contentItems(items gjson.Result) json.RawMessage {
	if !items.IsArray() {
		return nil
	}
	var out []part
	for _, it := range items.Array() {
		switch it.Get("type").String() {
		case "text", "inputText", "input_text":
			out = append(out, part{Type: "input_text", Text: it.Get("text").String()})
		case "image":
			if _, err := base64.StdEncoding.DecodeString(it.Get("data").String()); err == nil {
				out = append(out, part{Type: "input_image", Image: "data:" + it.Get("mimeType").String() + ";base64," + it.Get("data").String()})
			}
		case "inputImage", "input_image":
			out = append(out, part{Type: "input_image", Image: cmp.Or(it.Get("imageUrl").String(), it.Get("image_url").String())})
		default:
			out = append(out, part{Type: "input_text", Text: it.Raw})
		}
	}
	if len(out) == 1 && out[0].Type == "input_text" {
		return quote(out[0].Text)
	}
	raw, err := json.Marshal(out)
	if err != nil {
		return nil
	}
	return raw
}
