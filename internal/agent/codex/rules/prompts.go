package rules

import (
	"slices"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/session"
)

// alonePrompts looks for prompts of legacy sessions of which only the event is left, without any hole: such a session has
// no ordinals by which a lost record shows. The client writes the item first, then the event that shows it; and it answers
// what it was sent. So an event alone is a lost prompt once the model has answered in its turn.
type alonePrompts struct {
	recent [maxUnshown]textSum // texts of the newest prompts' items
	next   int
	event  *witness // the event of a prompt whose item has not come
}

// item takes the text of a prompt's item.
func (a *alonePrompts) item(text textSum) {
	a.recent[a.next] = text
	a.next = (a.next + 1) % len(a.recent)
	a.event = nil
}

// shown takes an event that shows a prompt.
func (a *alonePrompts) shown(t *witness, text textSum) {
	a.event = nil
	if text.size > 0 && !slices.Contains(a.recent[:], text) {
		a.event = t
	}
}

// answered returns the event of a prompt that was lost, once the model has answered it; nil if none was.
func (a *alonePrompts) answered() *witness {
	t := a.event
	a.event = nil
	return t
}

// promptless looks for turns of legacy sessions that begin with something the model does. The client writes the prompt first,
// or whatever else it sends to the model to begin with (measured with 0.114.0 to 0.150.0: 84 turns without an exception). A
// compaction may come first in a turn, a review has no prompt, and nor has a command that the user runs.
type promptless struct {
	start finding.Ref // of the turn in hand
	began bool        // something to begin with has come, or may have
	first session.Pos // what the model did first
	stamp string      // when
	asked bool        // a prompt came behind that
	ends  int         // ends of turns: with two, another client's turn lies in this one, and what came first may be of that
}

// see takes a record of the turn.
func (p *promptless) see(rec *session.Record, review bool) {
	switch {
	case rec.Kind == session.TurnStart:
		*p = promptless{start: finding.RefOf(rec), began: review}
	case review, rec.Kind == session.Unreadable, rec.Mended, rec.Kind == session.Compaction, rec.Kind == session.Rollback:
		p.began = true
	case p.first.Line > 0:
		p.asked = p.asked || rec.Boundary
		if rec.Kind == session.TurnEnd {
			p.ends++
		}
	case rec.Answer, rec.Type == "response_item/reasoning", rec.Kind == session.Call, rec.Kind == session.Evidence && !codex.Repeats(rec, codex.TellsUser) && !codex.ByUser(rec):
		p.first, p.stamp = rec.Pos, codex.Stamp(rec)
	case rec.Kind == session.Message, rec.Kind == session.Evidence:
		p.began = true
	}
}

// lost is the finding about the turn in hand, nil if it has its prompt.
func (p *promptless) lost() *finding.Finding {
	if p.start.Pos.Line == 0 || p.began || p.first.Line == 0 || p.asked && p.ends > 1 {
		return nil
	}
	f := ruleLostMessage.At(p.start, "event_msg/task_started", "the turn that begins here has no prompt: nothing says what the model was asked")
	f.Fix, f.On, f.Lost = finding.StandIn, p.start, 1
	f.Edits = []finding.Edit{{At: p.first, Op: finding.Before, New: finding.Content{Literal: codex.LostPrompt(p.stamp)}}}
	return &f
}
