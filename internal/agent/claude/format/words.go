package format

import (
	"bytes"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/normalize"
	"github.com/hist-cli/hist/internal/session"
)

// Words reads what records say, for timelines and reports.
type Words struct{ agent.NoWords }

// Time is when a record was written.
func (Words) Time(rec *session.Record) time.Time {
	return agent.TimeIn(string(Text(rec, FieldTimestamp)))
}

// blockOf is the first content block of a kind.
func blockOf(rec *session.Record, kind string) gjson.Result {
	var found gjson.Result
	gjson.ParseBytes(Field(rec, FieldContent)).ForEach(func(_, b gjson.Result) bool {
		if b.Get("type").String() == kind {
			found = b
		}
		return !found.Exists()
	})
	return found
}

// Tool is the tool's name.
func (Words) Tool(rec *session.Record) string { return blockOf(rec, "tool_use").Get("name").String() }

// Asked is what the tool was given: its command or file if it has one, or else its whole input.
func (Words) Asked(rec *session.Record) string {
	return agent.MainOf(blockOf(rec, "tool_use").Get("input"), "command", "file_path", "pattern", "url", "query", "description")
}

// Got is what the tool answered.
func (Words) Got(rec *session.Record) string {
	return PlainText(blockOf(rec, "tool_result").Get("content"))
}

// PlainText is the words of a content, one block per line.
func PlainText(content gjson.Result) string { return agent.TextIn(content, "text", "thinking") }

// Outcome says how a call ended.
func (Words) Outcome(rec *session.Record) session.Outcome {
	b := blockOf(rec, "tool_result")
	words := PlainText(b.Get("content"))
	o := session.Outcome{State: session.Succeeded}
	switch {
	case strings.HasPrefix(words, "[hist: "):
		o.State = session.StoodIn
	case string(Text(rec, FieldDenial)) != "" || strings.HasPrefix(words, "[Tool call interrupted"):
		o.State = session.Aborted
	case b.Get("is_error").Bool():
		o.State = session.Failed
	case gjson.GetBytes(Field(rec, FieldToolResult), "backgroundTaskId").String() != "":
		o.State = session.Running
	}
	if ms := gjson.GetBytes(Field(rec, FieldToolResult), "totalDurationMs"); ms.Exists() {
		o.Took = time.Duration(ms.Int()) * time.Millisecond
	}
	return o
}

// Message is the words of a message.
func (Words) Message(rec *session.Record) (words string, images int) {
	content := gjson.ParseBytes(Field(rec, FieldContent))
	return PlainText(content), agent.ImagesIn(content)
}

// Synthetic is the model that the client names in answers that it has written itself.
const Synthetic = "<synthetic>"

// Place is the working directory and the model of a turn, of records that are about these. An answer or a call gives the model
// alone: a command that changes its own directory does not move the turn.
func (Words) Place(rec *session.Record) (cwd, model string) {
	if rec.Kind == session.Context {
		return Decoded(rec, FieldCwd), gjson.GetBytes(rec.Raw, "attachment.identity.modelId").String()
	}
	if model = string(Text(rec, FieldModel)); model == Synthetic {
		model = ""
	}
	return "", model
}

// Ending reads an API error, an interruption, or the duration of a turn.
func (Words) Ending(rec *session.Record) session.Ending {
	switch {
	case IsTrue(rec, FieldAPIError):
		words, _ := Words{}.Message(rec)
		name := gjson.GetBytes(rec.Raw, "error").String()
		if name == "" {
			name = "api_error"
		}
		return session.Ending{Error: name, Message: words}
	case string(Text(rec, FieldSubtype)) == "turn_duration":
		return session.Ending{Took: time.Duration(gjson.GetBytes(rec.Raw, "durationMs").Int()) * time.Millisecond}
	}
	return session.Ending{Aborted: true, Reason: "interrupted"}
}

// Class sorts an API error by its words.
func (Words) Class(name, message string) session.Class {
	return agent.ClassBy(signs, name, message)
}

var signs = []agent.Sign{
	{Class: session.Limit, Words: []string{"prompt is too long", "usage limit", "credit balance", "quota"}},
	{Class: session.Auth, Words: []string{"401", "403", "authentication", "invalid api key", "/login", "oauth", "permission_error"}},
	{Class: session.Transient, Words: []string{"429", "rate_limit", "overloaded", "529", "500", "502", "503", "504", "server_error", "connection", "timeout", "timed out", "interrupted", "incomplete"}},
	{Class: session.BadRequest, Words: []string{"400", "invalid_request"}},
}

// Era says that no version marks the beginning of a turn.
func (Words) Era(string) agent.Era { return agent.Era{Turns: true} }

// TurnMark is a record that says nothing: a prompt begins a turn.
func (Words) TurnMark() []byte { return []byte(`{"type":"mode","mode":"normal","sessionId":""}`) }

// About reads a session's metadata from the records in its first bytes.
func About(head []byte) agent.About {
	var a agent.About
	scanner := jsonl.NewScanner(Shape)
	defer scanner.Done()
	rec := session.Record{Spans: make([]jsonl.Span, FieldCount)}
	readable := false
	for line := range bytes.Lines(head) {
		rec.Raw = bytes.TrimSpace(line)
		if v := scanner.Scan(rec.Raw, rec.Spans); v.Fault != jsonl.None || !v.Object {
			continue
		}
		readable = true
		if id := Decoded(&rec, FieldSession); id != "" && a.Info.ID == "" {
			a.Info.ID, a.Info.SessionID = id, id
		}
		if !InTree(&rec) || IsTrue(&rec, FieldSidechain) {
			continue
		}
		a.Info.CWD, a.Info.Version, a.Info.Branch = Decoded(&rec, FieldCwd), Decoded(&rec, FieldVersion), Decoded(&rec, FieldBranch)
		a.Info.Source = Decoded(&rec, FieldEntrypoint)
		a.Created = Words{}.Time(&rec)
		return a
	}
	switch {
	case len(bytes.TrimSpace(head)) == 0:
		a.Fault, a.Rule = "the file is empty", normalize.EmptyFile
	case !readable:
		a.Fault, a.Rule = "no record can be read", normalize.BadJSON
	}
	return a
}
