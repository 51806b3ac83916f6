package rules

import (
	"slices"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/session"
)

// alonePrompts looks for prompts of legacy sessions of which only the event is left, without any hole: such a session has
// no ordinals by which a lost record shows. The client writes the item first, then the event that shows it; and it answers
// what it was sent. So an event alone is a lost prompt once the model has answered in its turn. A review writes such
// events for the thread that it runs in (measured with 0.79.0, 0.114.0 and 0.145.0): what stands in one is left alone.
type alonePrompts struct {
	recent [maxUnshown]textSum // of the newest prompts' items
	next   int
	event  *witness // that shows a prompt whose item has not come
	review bool     // a review is under way
}

// item takes in the text of a prompt's item.
func (a *alonePrompts) item(text textSum) {
	a.recent[a.next] = text
	a.next = (a.next + 1) % len(a.recent)
	a.event = nil
}

// shown takes in an event that shows a prompt.
func (a *alonePrompts) shown(t *witness, text textSum) {
	a.event = nil
	if !a.review && text.size > 0 && !slices.Contains(a.recent[:], text) {
		a.event = t
	}
}

// other takes in a record that is no message.
func (a *alonePrompts) other(rec *session.Record) {
	switch string(codex.Text(rec, codex.FieldPayloadType)) {
	case "entered_review_mode":
		a.review, a.event = true, nil
	case "exited_review_mode":
		a.review = false
	}
}

// answered returns the event of a prompt that was lost, now that the model has answered it; nil if none was.
func (a *alonePrompts) answered() *witness {
	t := a.event
	a.event = nil
	return t
}
