package codex

import (
	"bytes"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/session"
)

// ToolName is the tool that a call asks for. A tool of an MCP server is mcp__SERVER__TOOL, which 0.114.0 writes in one word and
// 0.169.0 in two (measured). For a call without a name it is the call's type.
func ToolName(rec *session.Record) string {
	name := nameIn(rec)
	if name == "" {
		return strings.TrimSuffix(string(Text(rec, FieldPayloadType)), "_call")
	}
	if space := Text(rec, FieldNamespace); len(space) > 0 {
		name = string(space) + "__" + name
	}
	return name
}

// OutputOutcome reads how a call ended from the record of its output. It knows the forms that clients from 0.79.0 to 0.169.0
// write (measured): lines before "Output:", or an object with metadata.
func OutputOutcome(rec *session.Record) session.Outcome {
	raw := Field(rec, FieldOutput)
	if bytes.HasPrefix(raw, []byte(`"{`)) {
		meta := gjson.Get(OutputText(rec), "metadata")
		return exited(session.Outcome{Took: seconds(meta.Get("duration_seconds").String())}, meta.Get("exit_code").Raw)
	}
	var o session.Outcome
	head, _, _ := strings.Cut(outputHead(raw), "Output:\n")
	for line := range strings.Lines(head) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "Wall time: "):
			o.Took = seconds(strings.TrimSuffix(line[len("Wall time: "):], " seconds"))
		case strings.HasPrefix(line, "Process exited with code "):
			o = exited(o, line[len("Process exited with code "):])
		case strings.HasPrefix(line, "Exit code: "):
			o = exited(o, line[len("Exit code: "):])
		case strings.HasPrefix(line, "Process running with session ID "):
			o.State = session.Running
		case line == "aborted", strings.HasPrefix(line, "aborted by user"):
			o.State = session.Aborted
		case strings.HasPrefix(line, strings.TrimSpace(standInHead)):
			o.State = session.StoodIn
		case strings.HasPrefix(line, "exec_command failed"), strings.HasPrefix(line, "unsupported "):
			o.State = session.Failed
		}
	}
	return o
}

// maxOutputHead is how many bytes of an output are searched for what the client writes before its text.
const maxOutputHead = 1 << 10

// outputHead returns the beginning of an output's first text, without decoding all of a long one.
func outputHead(raw []byte) string {
	if len(raw) <= maxOutputHead || raw[0] != '"' {
		return textOf(raw)
	}
	head := raw[:maxOutputHead]
	if at := bytes.LastIndexByte(head, '\\'); at > len(head)-12 { // an escape, or a pair of them, may have been cut off
		head = bytes.TrimRight(head[:at], "\\")
	}
	return gjson.Parse(string(head) + `"`).String()
}

// OutputText returns the first text of an output, whatever form it has.
func OutputText(rec *session.Record) string { return textOf(Field(rec, FieldOutput)) }

func textOf(raw []byte) string {
	v := gjson.ParseBytes(raw)
	switch {
	case v.IsArray():
		return v.Get("0.text").String()
	case v.IsObject():
		return v.Get("content").String()
	}
	return v.String()
}

// EvidenceOutcome reads how a call ended from an event about it.
func EvidenceOutcome(rec *session.Record) session.Outcome {
	p := gjson.GetBytes(rec.Raw, "payload")
	if rec.Type == "event_msg/item_completed" {
		p = p.Get("item")
	}
	took := p.Get("duration")
	o := session.Outcome{Took: time.Duration(took.Get("secs").Int())*time.Second + time.Duration(took.Get("nanos").Int())}
	switch status := p.Get("status").String(); {
	case status == "failed", status == "declined", p.Get("result.Err").Exists(), p.Get("result.Ok.isError").Bool(),
		p.Get("result.isError").Bool(), p.Get("success").Type == gjson.False:
		o.State = session.Failed
	case status == "completed", p.Get("result.Ok").Exists(), p.Get("success").Bool():
		o.State = session.Succeeded
	}
	return exited(o, p.Get("exit_code").Raw)
}

// exited adds an exit code to an outcome, if the text is one.
func exited(o session.Outcome, code string) session.Outcome {
	n, err := strconv.Atoi(code)
	if err != nil {
		return o
	}
	o.Exit, o.State = code, session.Succeeded
	if n != 0 {
		o.State = session.Failed
	}
	return o
}

func seconds(s string) time.Duration {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f < 0 || f > 1e9 {
		return 0
	}
	return time.Duration(f * float64(time.Second))
}

// MessageText returns the words of a message and the number of its images.
func MessageText(rec *session.Record) (text string, images int) {
	content := gjson.ParseBytes(Field(rec, FieldContent))
	if content.Type == gjson.String {
		return content.String(), 0
	}
	var parts []string
	content.ForEach(func(_, part gjson.Result) bool {
		switch t := part.Get("text"); {
		case t.Type == gjson.String:
			parts = append(parts, t.String())
		case part.Get("type").String() == "input_image":
			images++
		}
		return true
	})
	return strings.Join(parts, "\n"), images
}

// ErrorClass is the client's name for the error that a turn ended with, "" if it ended without one
// (task_complete.error, from 0.145 on).
func ErrorClass(rec *session.Record) string {
	raw := Field(rec, FieldError)
	if len(raw) == 0 || raw[0] != '{' {
		return ""
	}
	class := gjson.GetBytes(raw, "codex_error_info")
	name := class.String()
	class.ForEach(func(k, _ gjson.Result) bool {
		if class.IsObject() {
			name = k.String()
		}
		return false
	})
	if name == "" {
		return "other"
	}
	return name
}

// Time is when the record was written, zero if its time stamp is invalid.
func Time(rec *session.Record) time.Time {
	t, err := time.Parse(time.RFC3339, Stamp(rec))
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}

// AskedText is what a call gives its tool: arguments, a script, or a local shell's command.
func AskedText(rec *session.Record) string {
	for _, field := range []int{FieldArguments, FieldInput} {
		if raw := Field(rec, field); len(raw) > 0 {
			return gjson.ParseBytes(raw).String()
		}
	}
	return gjson.GetBytes(rec.Raw, "payload.action").Raw
}

// Shell says whether a call runs a command (the names of the tools from 0.79.0 to 0.169.0).
func Shell(tool string) bool {
	switch tool {
	case "shell", "exec_command", "shell_command", "local_shell":
		return true
	}
	return false
}

// Escalated says whether a call asks to run outside the sandbox.
func Escalated(rec *session.Record) bool {
	args := gjson.Parse(AskedText(rec))
	return args.Get("sandbox_permissions").String() == "require_escalated" || args.Get("with_escalated_permissions").Bool()
}

// NoNetwork says whether a turn's settings keep commands from the network; known is false if they do not say.
// (turn_context.sandbox_policy; measured with 0.114.0 and 0.169.0.)
func NoNetwork(rec *session.Record) (no, known bool) {
	policy := gjson.ParseBytes(Field(rec, FieldSandbox))
	switch policy.Get("type").String() {
	case "workspace-write", "read-only":
		return !policy.Get("network_access").Bool(), true
	case "danger-full-access":
		return false, true
	}
	return false, false
}

// CutOff says whether the end of a turn says that the turn was cut off.
func CutOff(rec *session.Record) bool { return rec.Type == "event_msg/turn_aborted" }
