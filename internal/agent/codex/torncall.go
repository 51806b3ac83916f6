package codex

import (
	"bytes"
	"cmp"
	"encoding/json"
	"time"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/jsonl"
)

// TornCall is what can be read of a tool call whose line was cut.
type TornCall struct {
	Type      string // "function_call" or "custom_tool_call"
	Timestamp string
	Ordinal   int64 // 0 if it can't be read
	Name      string
	CallID    string // "" if the line was cut before it
	CutID     bool   // the line was cut inside of the CallID
	Input     string // arguments or input, as far as they go
}

// cutArguments is appended to the arguments of a call that was cut off, so that they stay JSON and say what happened.
const cutArguments = "[hist: the session file was cut here; the rest of the arguments is lost]"

// ReadTornCall reads the start of a call's line; ok is false if it is not one, or if its name can't be read.
func ReadTornCall(line []byte) (c TornCall, ok bool) {
	for _, kind := range []string{"function_call", "custom_tool_call"} {
		if i := bytes.Index(line, []byte(`"type":"`+kind+`"`)); i >= 0 {
			c.Type = kind
			c.Timestamp, _ = member(line, "timestamp")
			c.Ordinal = gjson.GetBytes(line, "ordinal").Int()
			var named bool
			c.Name, named = member(line[i:], "name")
			var whole bool
			c.CallID, whole = member(line[i:], "call_id")
			c.CutID = !whole && c.CallID != ""
			key := "arguments"
			if kind == "custom_tool_call" {
				key = "input"
			}
			c.Input, _ = member(line[i:], key)
			return c, named && c.Name != "" && c.Timestamp != ""
		}
	}
	return c, false
}

// ReadTailCall reads the call of a shell tool from the end of an event about its command, of which the beginning is lost: the command
// stands there a second time. ok is false if it may not be the whole command there: the client leaves out what only shapes the output.
func ReadTailCall(tail []byte, shell string) (c TornCall, ok bool) {
	key := []byte(`"parsed_cmd":[`)
	i := bytes.Index(tail, key)
	if i < 0 || bytes.Contains(tail, []byte(`"source":"user`)) {
		return c, false
	}
	rest := append([]byte{'{'}, tail[i:]...)
	parsed := gjson.GetBytes(rest, "parsed_cmd").Array()
	if len(parsed) != 1 || parsed[0].Get("cmd").Str == "" {
		return c, false
	}
	cmd := parsed[0].Get("cmd")
	end, _, first := bytes.Cut(tail[:i], []byte(`"],"cwd":`))
	if first && !bytes.HasSuffix([]byte(cmd.Raw[1:len(cmd.Raw)-1]), end) || len(end) == 0 && parsed[0].Get("type").Str != "unknown" {
		return c, false
	}
	c = TornCall{Type: "function_call", Name: cmp.Or(shell, "exec_command")}
	c.Input = shellArguments(c.Name, gjson.Parse(`{"command":["bash","-lc",`+cmd.Raw+`]}`))
	if ms := gjson.GetBytes(append([]byte{'{'}, tail[max(0, bytes.Index(tail, []byte(`"started_at_ms"`))):]...), "started_at_ms").Int(); ms > 0 {
		c.Timestamp = time.UnixMilli(ms).UTC().Format(TimeForm)
	}
	return c, true
}

// member finds the text of a member in a line that was cut off; whole is false if the text itself was.
func member(line []byte, key string) (text string, whole bool) {
	i := bytes.Index(line, []byte(`"`+key+`":"`))
	if i < 0 {
		return "", false
	}
	raw := line[i+len(key)+3:]
	for n := 1; n < len(raw); n++ {
		switch raw[n] {
		case '\\':
			n++
		case '"':
			text, whole = jsonl.Unquote(raw[:n+1])
			return text, whole && (n+1 == len(raw) || bytes.IndexByte([]byte(",} \t\r"), raw[n+1]) >= 0) // else the quote is none of the text's
		}
	}
	for drop := 0; drop < 12 && len(raw)-drop > 0; drop++ { // an escape or a character may be cut, too
		head := raw[:len(raw)-drop]
		if !utf8.Valid(head) {
			continue
		}
		if text, ok := jsonl.Unquote(append(bytes.Clone(head), '"')); ok {
			return text, false
		}
	}
	return "", false
}

// Tool is the tool that the call asks for.
func (c TornCall) Tool() Tool { return Tool{Type: c.Type, Name: c.Name, CallID: c.CallID} }

// Line writes the call anew with what is left of its input, under the id of the output that answers it.
func (c TornCall) Line(callID string) []byte {
	if c.Type == "custom_tool_call" {
		return newCustomCall(c.Timestamp, callID, c.Name, c.Input+"\n"+cutArguments)
	}
	arguments := c.Input
	if !json.Valid([]byte(arguments)) {
		note, _ := json.Marshal(map[string]string{"hist_note": cutArguments, "readable": c.Input})
		arguments = string(note)
	}
	return newFunctionCall(c.Timestamp, callID, "", c.Name, arguments)
}
