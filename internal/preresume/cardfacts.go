package preresume

import (
	"time"

	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/internal/timeline"
	"github.com/hist-cli/hist/lint"
)

// facts is what the card needs to know of a session. It is gathered entry by entry.
type facts struct {
	agent string // the agent that wrote the session
	live  bool   // the session is being written now, so that its last turn is not over

	turn     turnFacts      // the current turn, or the last one
	left     *turnFacts     // the newest turn that never ended
	stopped  *turnFacts     // the turn that was cut off by the newest restart, or by the session's end
	older    []call         // the newest calls of earlier turns that have no output, at most maxCalls
	lost     int            // how many such calls there are, including those that older no longer holds
	restart  int64          // line where the session went on after the newest restart, 0 if it did not
	prompt   prompt         // the last one that is sent
	unsent   prompt         // the last one that is not
	prompts  []prompt       // those since the restart
	stale    map[int64]bool // lines of prompts since the restart that repeat an earlier one
	sandbox  []string       // messages of the newest findings about failures inside the sandbox
	notSaved bool           // the last turn did not save its work
	counts   [5]int         // findings by impact
	cwd      string         // from the newest settings
}

// turnFacts is what is known of one turn.
type turnFacts struct {
	number   int
	line     int64     // where it begins
	last     time.Time // of its last record
	state    timeline.TurnState
	detail   string
	over     bool
	repaired bool   // hist has put placeholder outputs into it, and may have closed it: it was cut off
	resumed  int64  // line where the session went on after it was cut off, 0 if it did not
	unknown  []call // calls without an output: nobody knows what they did; at most maxCalls
	more     int    // how many more there are
}

// call is a call whose outcome is not known.
type call struct {
	tool, id string
	ran      []string // the calls that it made itself, if it is a script, and their outcomes
}

// maxRan is how many of a script's own calls a card names.
const maxRan = 4

// prompt is a message to the agent.
type prompt struct {
	line     int64
	at       string // its time, as it is printed
	chars    int
	text     string
	worked   bool // the model called a tool for it
	answered bool // the last thing that the model did was to answer in words
}

// Limits of what is kept: calls of one turn, and prompts since a restart.
const (
	maxCalls   = 20
	maxPrompts = 200
)

func (f *facts) entry(e *timeline.Entry) error {
	if !e.Time.IsZero() {
		f.turn.last = e.Time
	}
	switch e.Kind {
	case timeline.Prompt, timeline.Answer:
		if e.Unsent {
			f.notSent(e)
			return nil
		}
	}
	switch e.Kind {
	case timeline.TurnStart:
		f.retire()
		before := f.turn
		f.turn = turnFacts{state: timeline.Open, number: e.Turn, line: e.Pos.Line, last: e.Time}
		if before.over && before.repaired {
			f.left = &before
			f.wentOn(e.Pos.Line)
		}
	case timeline.TurnEnd:
		f.turn.state, f.turn.detail, f.turn.over = e.State, e.Detail, e.State != timeline.Open && e.State != timeline.Running
		if e.State == timeline.Open {
			left := f.turn
			f.left = &left
		}
	case timeline.Call:
		if e.Within != "" {
			f.turn.ran(e)
			break
		}
		if !e.Unsent {
			f.prompt.worked, f.prompt.answered = true, false
		}
		if !e.Answered || e.Outcome.State == session.StoodIn {
			f.turn.add(call{tool: e.Tool, id: e.CallID})
			f.turn.repaired = f.turn.repaired || e.Outcome.State == session.StoodIn
		}
	case timeline.Answer:
		f.prompt.answered = true
	case timeline.Prompt:
		f.prompt = prompt{line: e.Pos.Line, at: at(e.Time), chars: e.Chars, text: e.Text}
		if f.restart > 0 && len(f.prompts) < maxPrompts {
			f.prompts = append(f.prompts, f.prompt)
		}
	case timeline.Settings:
		f.cwd = e.CWD
	case timeline.Finding:
		f.finding(e)
	}
	return nil
}

// notSent notes a prompt that the client does not send any more.
func (f *facts) notSent(e *timeline.Entry) {
	if e.Kind == timeline.Prompt {
		f.unsent = prompt{line: e.Pos.Line, at: at(e.Time)}
	}
}

// at formats the time of day, in brackets and with a leading space; "" if the time is not known.
func at(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(" (15:04:05)")
}

func (t *turnFacts) add(c call) {
	if len(t.unknown) < maxCalls {
		t.unknown = append(t.unknown, c)
	} else {
		t.more++
	}
}

// ran records a call that a script made, if the outcome of the script itself is not known.
func (t *turnFacts) ran(e *timeline.Entry) {
	for i := range t.unknown {
		if c := &t.unknown[i]; c.id == e.Within && len(c.ran) < maxRan {
			c.ran = append(c.ran, name(e.Tool)+" ("+e.Outcome.State.String()+")")
		}
	}
}

// retire moves the unanswered calls of the current turn to those of older turns.
func (f *facts) retire() {
	f.lost += len(f.turn.unknown) + f.turn.more
	f.older = append(f.older, f.turn.unknown...)
	f.older = f.older[max(0, len(f.older)-maxCalls):]
}

// finding records what lint found.
func (f *facts) finding(e *timeline.Entry) {
	f.counts[e.Finding.Impact]++
	switch e.Finding.Rule.Restart {
	case finding.WentOn:
		f.wentOn(e.Pos.Line)
	case finding.StaleWake:
		f.stale[e.Pos.Line] = true
	case finding.FailedInSandbox:
		f.sandbox = append(f.sandbox, e.Finding.Message)
		f.sandbox = f.sandbox[max(0, len(f.sandbox)-maxSandbox):]
	case finding.NotSaved:
		f.notSaved = true
	}
}

// wentOn records that the session goes on at a line, after the newest turn that was cut off.
func (f *facts) wentOn(line int64) {
	f.restart, f.stopped, f.prompts, f.stale = line, f.left, nil, map[int64]bool{}
	if f.stopped == nil {
		return
	}
	f.stopped.resumed = line
	n := len(f.stopped.unknown) // these are listed with the turn itself
	f.older, f.lost = f.older[:max(0, len(f.older)-n)], f.lost-n-f.stopped.more
}

// maxSandbox is how many turns with failures inside the sandbox the card lists, the newest.
const maxSandbox = 3

// finish takes into account that the session ends here.
func (f *facts) finish() {
	if (!f.turn.over || f.turn.repaired) && f.turn.number > 0 && !f.live {
		f.stopped = &f.turn
		return
	}
	if f.live && !f.turn.over {
		f.turn.unknown, f.turn.more = nil, 0 // these calls are still running
	}
	f.retire()
}

// damaged counts the findings that are more than notes.
func (f *facts) damaged() int {
	return f.counts[lint.Shows] + f.counts[lint.Loses] + f.counts[lint.Rejects] + f.counts[lint.Blocks]
}
