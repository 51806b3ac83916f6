package codex

import (
	"bytes"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent"
	"github.com/hist-cli/hist/internal/jsonl"
	"github.com/hist-cli/hist/internal/session"
)

// Words reads what the records of a rollout say.
type Words struct{}

// Time is the record's time stamp.
func (Words) Time(rec *session.Record) time.Time { return Time(rec) }

// Tool is ToolName.
func (Words) Tool(rec *session.Record) string { return ToolName(rec) }

// Asked is AskedText.
func (Words) Asked(rec *session.Record) string { return AskedText(rec) }

// Calls says whether a message is a call that the provider ran, such as a web search.
func (Words) Calls(rec *session.Record) bool { return strings.HasSuffix(rec.Type, "_call") }

// Got is OutputText.
func (Words) Got(rec *session.Record) string { return OutputText(rec) }

// Outcome reads an output, or an event that tells of one.
func (Words) Outcome(rec *session.Record) session.Outcome {
	if rec.Kind == session.Evidence {
		return EvidenceOutcome(rec)
	}
	return OutputOutcome(rec)
}

// Message is MessageText.
func (Words) Message(rec *session.Record) (text string, images int) { return MessageText(rec) }

// Place is the working directory and the model that a turn_context names; no answer names its model.
func (Words) Place(rec *session.Record) (cwd, model string) {
	if rec.Kind != session.Context {
		return "", ""
	}
	p := gjson.GetBytes(rec.Raw, "payload")
	return p.Get("cwd").String(), p.Get("model").String()
}

// Ending reads a task_complete or a turn_aborted.
func (Words) Ending(rec *session.Record) session.Ending {
	return session.Ending{
		Aborted: CutOff(rec), Reason: string(Text(rec, FieldReason)),
		Error: ErrorClass(rec), Message: ErrorMessage(rec),
		Took: time.Duration(gjson.GetBytes(rec.Raw, "payload.duration_ms").Int()) * time.Millisecond,
	}
}

// Class is Classify.
func (Words) Class(name, message string) session.Class { return Classify(name, message) }

// TurnsBack is the num_turns of a thread_rolled_back.
func (Words) TurnsBack(rec *session.Record) int {
	return int(gjson.ParseBytes(Field(rec, FieldNumTurns)).Int())
}

// Script says whether a call runs a script, or waits for one.
func (Words) Script(rec *session.Record) bool {
	return IsScript(CallWithID(rec, "")) || Awaited(rec) != ""
}

// Within is a call that a script made, as an event shows it.
func (Words) Within(rec *session.Record) (tool, asked string, ok bool) {
	if !Nested(rec) {
		return "", "", false
	}
	return nestedName(rec.Raw), strings.TrimPrefix(nestedAsked(rec.Raw), " "), true
}

// Era says that before 0.100 no record marks where a turn begins, and before 0.145 none says that it failed.
func (Words) Era(version string) agent.Era {
	return agent.Era{Turns: Before(version, 0, 100), Errors: Before(version, 0, 145)}
}

// TurnMark is a task_started.
func (Words) TurnMark() []byte {
	return []byte(`{"timestamp":"","type":"event_msg","payload":{"type":"task_started"}}`)
}

// about reads the first line, which should be a session_meta; it names no rule.
func about(head []byte) agent.About {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	line = bytes.TrimSpace(line)
	switch {
	case len(line) == 0:
		return agent.About{Fault: "the file is empty, or begins with an empty line"}
	case !wholeObject(line):
		return agent.About{Fault: "the first line can't be read"}
	case !IsHeader(line):
		return agent.About{Fault: "the first record is no header"}
	}
	a := agent.About{Info: ReadHeader(line)}
	if faults := HeaderFaults(line, Known{}); len(faults) > 0 {
		a.Fault = faults[0].What
	}
	if t, err := time.Parse(time.RFC3339, gjson.GetBytes(line, "payload.timestamp").String()); err == nil {
		a.Created = t.UTC()
	}
	return a
}

// wholeObject says whether a line is one JSON object.
func wholeObject(line []byte) bool {
	v := shape.ScanOne(line, make([]jsonl.Span, fieldCount))
	return v.Fault == jsonl.None && v.Object
}

// request begins what the user typed, behind what an editor's extension has put before it.
const request = "## My request for Codex:"

// typed is what the user typed of a prompt.
func typed(prompt string) string {
	if _, typed, ok := strings.Cut(prompt, request); ok && strings.HasPrefix(strings.TrimSpace(prompt), "# Context from my IDE setup") {
		return strings.TrimSpace(typed)
	}
	return prompt
}
