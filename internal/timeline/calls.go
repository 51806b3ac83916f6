package timeline

import (
	"strings"

	"github.com/hist-cli/hist/internal/session"
)

func (t *teller) call(rec *session.Record) {
	t.settings(rec)
	e := t.add(rec, Call)
	e.Tool, e.CallID, e.open = clip(t.words.Tool(rec)), clip(string(rec.CallID)), true
	e.script = t.words.Script(rec)
	if t.opts.Content && !t.opts.asked {
		e.Asked = shorten(t.words.Asked(rec))
	}
	if twin, had := t.calls.Open(rec, e); had {
		twin.open = false
	}
	t.turn.calls++
	t.turn.active, t.turn.answered = true, false
}

// nested adds a call that a script made, if the event is about one. It belongs to the oldest open call that runs a script.
func (t *teller) nested(rec *session.Record) {
	tool, asked, ok := t.words.Within(rec)
	if !ok {
		return
	}
	within := ""
	for _, e := range t.queue {
		if e.Kind == Call && e.open && e.script {
			within = e.CallID
			break // scripts run one after another
		}
	}
	e := t.add(rec, Call)
	e.Tool, e.Within, e.Answered = clip(tool), within, true
	if !t.opts.asked {
		e.Outcome = t.words.Outcome(rec)
	}
	if t.opts.Content && !t.opts.asked {
		e.Asked = shorten(asked)
	}
}

func (t *teller) output(rec *session.Record) {
	if rec.Note {
		n := t.add(rec, Note)
		n.CallID = clip(string(rec.CallID))
		if t.opts.Content {
			n.Text = t.words.Got(rec)
		}
		return
	}
	e, ok := t.calls.Answer(rec)
	if !ok {
		e = t.add(rec, Output)
		e.CallID = clip(string(rec.CallID))
	}
	e.Answered, e.open = true, false
	if t.opts.asked {
		return
	}
	e.Outcome = t.words.Outcome(rec).Or(e.Outcome)
	if at := t.words.Time(rec); e.Outcome.Took == 0 && e.Kind == Call && !e.Time.IsZero() && at.After(e.Time) {
		e.Outcome.Took = at.Sub(e.Time)
	}
	if t.opts.Content {
		e.Got = shorten(t.words.Got(rec))
	}
}

// giveUp marks the open calls and the turns that were left as settled: nothing will come for them any more.
func (t *teller) giveUp() {
	for id, e := range t.left {
		e.open = false
		delete(t.left, id)
	}
	for _, e := range t.calls.All() {
		e.open = false
	}
	t.calls.Clear()
}

// How much is kept, in bytes: of a call's arguments or output, and of a name.
const (
	maxShown = 4000
	maxName  = 100
)

func shorten(s string) string { return cut(s, maxShown) }
func clip(s string) string    { return cut(s, maxName) }

func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
