package codex

import (
	"bytes"

	"github.com/tidwall/gjson"
)

// noEvent begin answers that clients write without an event: those to other agents, and plans.
var noEvent = [][]byte{[]byte(`"{\"author\"`), []byte(`"<proposed_plan>`)}

// NoEvent says whether an answer's text, as it stands in the file, is one that no event shows.
func NoEvent(text []byte) bool {
	for _, mark := range noEvent {
		if bytes.HasPrefix(text, mark) {
			return true
		}
	}
	return len(text) <= len(`""`)
}

// EventsOf writes the events that show an answer, or a thought, in sessions without ordinals; none if there is nothing to
// show.
func EventsOf(item []byte) (events [][]byte) {
	stamp, p := gjson.GetBytes(item, "timestamp").String(), gjson.GetBytes(item, "payload")
	if p.Get("type").String() == "reasoning" {
		for _, s := range p.Get("summary.#.text").Array() {
			events = append(events, record(stamp, nil, "event_msg", struct {
				Type string `json:"type"`
				Text string `json:"text"`
			}{"agent_reasoning", s.String()}))
		}
		return events
	}
	for _, part := range p.Get("content").Array() {
		if part.Get("type").String() == "output_text" {
			events = append(events, record(stamp, nil, "event_msg", struct {
				Type    string `json:"type"`
				Message string `json:"message"`
				Phase   string `json:"phase,omitempty"`
			}{"agent_message", part.Get("text").String(), p.Get("phase").String()}))
		}
	}
	return events
}
