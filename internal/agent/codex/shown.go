package codex

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/session"
)

// eventWriters are the programs of which it is known that they write an event for each answer and thought.
var eventWriters = []string{"codex_cli_rs", "codex_exec", "codex-tui"}

// WritesEvents says whether a header is of a session without ordinals whose client writes an event right in front of each
// answer and thought: it is known of versions 0.72 to 0.169.
func WritesEvents(header *session.Record) bool {
	p := gjson.GetBytes(header.Raw, "payload")
	version := p.Get("cli_version").String()
	return slices.Contains(eventWriters, p.Get("originator").String()) && Before(version, 0, 170) && !Before(version, 0, 72)
}

// noEvent begin answers that clients write without an event: those to other agents, and plans.
var noEvent = []string{`{"author"`, "<proposed_plan>"}

// NoEvent says whether an answer is one that no event shows.
func NoEvent(text string) bool {
	return slices.ContainsFunc(noEvent, func(mark string) bool { return strings.HasPrefix(text, mark) })
}

// ShownWords is the text of an answer, or of a part of a thought, that an event shows.
func ShownWords(event *session.Record) []byte {
	if message := Text(event, FieldMessage); len(message) > 0 {
		return message
	}
	return []byte(gjson.GetBytes(Field(event, FieldPayload), "text").String())
}

// WordsOf are the texts of an answer's parts, or of a thought's.
func WordsOf(item *session.Record) (texts []string) {
	if OneText(item) {
		return append(texts, string(Text(item, FieldFirstText)))
	}
	for _, field := range []int{FieldSummary, FieldContent} {
		for _, text := range gjson.GetBytes(Field(item, field), "#.text").Array() {
			texts = append(texts, text.String())
		}
	}
	return texts
}

// IsShown says whether an answer or a thought has anything that an event would show: most thoughts have not.
func IsShown(item *session.Record) bool {
	return item.Type != "response_item/reasoning" || gjson.GetBytes(Field(item, FieldSummary), "0").Exists()
}

// EventsOf writes the events that show an answer, or a thought, in sessions without ordinals; none if there is nothing to
// show.
func EventsOf(item *session.Record) (events [][]byte) {
	stamp := string(Text(item, FieldTimestamp))
	if item.Type == "response_item/reasoning" {
		for _, s := range gjson.GetBytes(Field(item, FieldSummary), "#.text").Array() {
			events = append(events, record(stamp, nil, "event_msg", jsonObject{"type", "agent_reasoning", "text", s.String()}))
		}
		return events
	}
	phase := gjson.GetBytes(Field(item, FieldPayload), "phase").String()
	for _, part := range gjson.ParseBytes(Field(item, FieldContent)).Array() {
		if part.Get("type").String() == "output_text" {
			events = append(events, answerEvent(stamp, part.Get("text").String(), phase))
		}
	}
	return events
}

// answerEvent writes the event that shows an answer; its phase may be empty.
func answerEvent(stamp, text, phase string) []byte {
	return record(stamp, nil, "event_msg", jsonObject{"type", "agent_message", "message", text, "phase?", phase})
}
