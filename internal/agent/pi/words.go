package pi

import (
	"regexp"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/session"
)

// Words reads what records say, for timelines and reports.
type Words struct{ agent.NoWords }

// Time is when a record was written.
func (Words) Time(rec *session.Record) time.Time {
	return agent.TimeIn(text(rec, fieldTime))
}

// parts takes an answer apart: its words, and each call. One that failed or was stopped also ends the turn.
func parts(rec *session.Record) (list []session.Record) {
	ended := rec.Type == "message/assistant" && failed.Match(rec.Raw)
	if rec.Kind != session.Call && !ended {
		return []session.Record{*rec}
	}
	said := *rec
	said.Kind, said.Family = session.Message, session.NoFamily
	if words, _ := (Words{}).Message(rec); words != "" {
		list = append(list, said)
	}
	if rec.Kind != session.Call {
		said.Kind = session.TurnEnd
		return append(list, said)
	}
	content(rec).ForEach(func(_, b gjson.Result) bool {
		if b.Get("type").String() == "toolCall" {
			call := *rec
			call.CallID, call.Prepared = []byte(b.Get("id").String()), b
			list = append(list, call)
		}
		return true
	})
	return list
}

// failed finds the end of an answer that is not sent.
var failed = regexp.MustCompile(`"stopReason": ?"(?:error|aborted)"`)

// callIn is the call that a record stands for, of those of its answer.
func callIn(rec *session.Record) gjson.Result {
	b, _ := rec.Prepared.(gjson.Result)
	return b
}

// Tool is the tool's name.
func (Words) Tool(rec *session.Record) string { return callIn(rec).Get("name").String() }

// Asked is what the tool was given: its command or file if it has one, or else all of it.
func (Words) Asked(rec *session.Record) string {
	return agent.MainOf(callIn(rec).Get("arguments"), "command", "path", "pattern", "url", "query")
}

// content is what a message holds.
func content(rec *session.Record) gjson.Result { return gjson.ParseBytes(raw(rec, fieldContent)) }

// Got is what the tool answered.
func (Words) Got(rec *session.Record) string { return agent.TextIn(content(rec), "text") }

// Outcome says how a call ended.
func (w Words) Outcome(rec *session.Record) session.Outcome {
	m := gjson.GetBytes(rec.Raw, "message")
	o := session.Outcome{State: session.Succeeded, Took: time.Duration(m.Get("durationMs").Int()) * time.Millisecond}
	switch said := w.Got(rec); {
	case strings.HasPrefix(said, "[hist: "):
		o.State = session.StoodIn
	case strings.HasSuffix(said, "Command aborted"):
		o.State = session.Aborted
	case m.Get("isError").Bool():
		o.State = session.Failed
	}
	return o
}

// Message is the words of a message, and how many images it has.
func (Words) Message(rec *session.Record) (said string, images int) {
	return agent.TextIn(content(rec), "text"), agent.ImagesIn(content(rec))
}

// Place is the model of a change of it, or of an answer, and the directory that the client tells the model.
func (Words) Place(rec *session.Record) (cwd, model string) {
	switch rec.Type {
	case "model_change":
		return "", gjson.GetBytes(rec.Raw, "modelId").String()
	case "message/system":
		return toldCWD(gjson.GetBytes(rec.Raw, "message")), ""
	case "message/assistant":
		return "", gjson.GetBytes(rec.Raw, "message.model").String()
	}
	return "", ""
}

// Ending reads how an answer ended that failed or was stopped.
func (Words) Ending(rec *session.Record) session.Ending {
	m := gjson.GetBytes(rec.Raw, "message")
	if m.Get("stopReason").String() == "aborted" {
		return session.Ending{Aborted: true, Reason: "interrupted"}
	}
	return session.Ending{Error: "api_error", Message: m.Get("errorMessage").String()}
}

// Class sorts an error by its words.
func (Words) Class(name, message string) session.Class {
	return agent.ClassBy(signs, name, message)
}

var signs = []agent.Sign{
	{Class: session.Limit, Words: []string{"context length", "too long", "usage limit", "quota", "credit balance"}},
	{Class: session.Auth, Words: []string{"401", "403", "authentication", "api key"}},
	{Class: session.Transient, Words: []string{"429", "500", "502", "503", "504", "529", "overloaded", "timeout", "connection", "without finish_reason"}},
	{Class: session.BadRequest, Words: []string{"400", "invalid_request"}},
}

// Era says that no version marks the beginning of a turn.
func (Words) Era(string) agent.Era { return agent.Era{Turns: true} }

// TurnMark is a record that says nothing: a prompt begins a turn.
func (Words) TurnMark() []byte { return []byte(`{"type":"custom","customType":"","timestamp":""}`) }
