package clienttest

import (
	"bytes"
	"encoding/json"
	"time"
)

// Kind is how a reply ends.
type Kind int

const (
	Completed Kind = iota // response.completed
	Cut                   // the connection is closed before response.completed
	Failed                // response.failed with Code and Message
	HTTPError             // no stream at all: Status and Body
	Held                  // left open without an end until the client goes
)

// Reply is the answer to one request. The zero value completes without items.
type Reply struct {
	Kind    Kind
	Items   []Item
	Delay   time.Duration // before the first byte
	Pause   time.Duration // between two items
	Tokens  int           // usage to report; 15 if zero
	Code    string        // Failed
	Message string
	Status  int // HTTPError
	Body    string
}

// Tools are the tools that a request offers.
type Tools map[string]bool

// Item makes an output item, given the tools of the request.
type Item func(Tools) json.RawMessage

// ToolsOf lists the names of the tools of a request. Those of code mode stand in an item of its input.
func ToolsOf(body []byte) Tools {
	type tool struct {
		Name  string `json:"name"`
		Tools []tool `json:"tools"`
	}
	var v struct {
		Tools []tool `json:"tools"`
		Input []struct {
			Type  string `json:"type"`
			Tools []tool `json:"tools"`
		} `json:"input"`
	}
	tools := Tools{}
	if json.Unmarshal(body, &v) != nil {
		return tools
	}
	for _, it := range v.Input {
		if it.Type == "additional_tools" {
			v.Tools = append(v.Tools, it.Tools...)
		}
	}
	for _, t := range v.Tools {
		tools[t.Name] = true
		for _, nested := range t.Tools {
			tools[nested.Name] = true
		}
	}
	return tools
}

// Code says whether these are the tools of code mode.
func (t Tools) Code() bool { return t["exec"] && !t["exec_command"] }

// Raw is an item given as JSON.
func Raw(item string) Item {
	return func(Tools) json.RawMessage { return json.RawMessage(item) }
}

// Message is an assistant message.
func Message(id, text string) Item {
	return Raw(`{"type":"message","id":` + quote(id) + `,"role":"assistant","content":[{"type":"output_text","text":` + quote(text) + `}]}`)
}

// Reasoning is a reasoning item with a summary.
func Reasoning(id, summary string) Item {
	return Raw(`{"type":"reasoning","id":` + quote(id) + `,"summary":[{"type":"summary_text","text":` + quote(summary) +
		`}],"content":null,"encrypted_content":"gAAAAABtZXJlLXRlc3Q="}`)
}

// Shell is a call of whatever tool the client has for running a command.
func Shell(id, callID, command string) Item {
	return func(tools Tools) json.RawMessage {
		if tools.Code() {
			return Exec(id, callID, "const r = await tools.exec_command({cmd: "+quote(command)+", yield_time_ms: 30000});\ntext(r.output);\n")(tools)
		}
		name, args := "shell", `{"command": ["bash", "-lc", `+quote(command)+`], "timeout_ms": 60000}`
		switch {
		case tools["exec_command"]:
			name, args = "exec_command", `{"cmd": `+quote(command)+`, "yield_time_ms": 30000}`
		case tools["shell_command"] && !tools["shell"]:
			name, args = "shell_command", `{"command": `+quote(command)+`, "timeout_ms": 60000}`
		}
		return json.RawMessage(`{"type":"function_call","id":` + quote(id) + `,"name":"` + name +
			`","arguments":` + quote(args) + `,"call_id":` + quote(callID) + `}`)
	}
}

// Patch is a call of the custom tool apply_patch that adds a file.
func Patch(id, callID, file string) Item {
	input := "*** Begin Patch\n*** Add File: " + file + "\n+hello from the patch\n*** End Patch\n"
	return func(tools Tools) json.RawMessage {
		if tools.Code() {
			return Exec(id, callID, "text(await tools.apply_patch("+quote(input)+"));\n")(tools)
		}
		return Custom(id, callID, "apply_patch", input)(tools)
	}
}

// Exec is a call of code mode's one tool.
func Exec(id, callID, script string) Item { return Custom(id, callID, "exec", script) }

// Custom is a call of a custom tool.
func Custom(id, callID, name, input string) Item {
	return Raw(`{"type":"custom_tool_call","id":` + quote(id) + `,"status":"completed","call_id":` + quote(callID) +
		`,"name":` + quote(name) + `,"input":` + quote(input) + `}`)
}

// Function is a call of a function, its arguments given as JSON; namespace may be empty.
func Function(id, callID, namespace, name, args string) Item {
	if namespace != "" {
		name += `","namespace":"` + namespace
	}
	return Raw(`{"type":"function_call","id":` + quote(id) + `,"name":"` + name + `","arguments":` + quote(args) +
		`,"call_id":` + quote(callID) + `}`)
}

// quote is a JSON string that leaves <, > and & alone.
func quote(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic(err) // a string always encodes
	}
	return string(bytes.TrimRight(b.Bytes(), "\n"))
}
