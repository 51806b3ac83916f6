package restart

import (
	"time"

	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/internal/timeline"
	"github.com/hist-cli/hist/lint"
)

// facts is what the card needs to know of a session. It is gathered entry by entry.
type facts struct {
	agent string // whose session it is
	live  bool   // somebody writes the session now: its last turn is not over

	turn    turnFacts  // the turn in hand, or the last one
	left    *turnFacts // the newest turn that never ended
	stopped *turnFacts // the turn that the newest restart, or the session's end, cut off
	older   []call
	lost    int   // how many calls are in older, and were
	restart int64 // line where the session went on after the newest restart, 0 if it did not
	prompt  prompt
	prompts []prompt // since the restart
	stale   map[int64]bool
	sandbox []string // messages of findings
	unsaved bool
	counts  [5]int // findings by impact
	cwd     string // as of the newest settings
}

// turnFacts are what is known of one turn.
type turnFacts struct {
	number  int
	line    int64
	last    time.Time
	state   timeline.TurnState
	detail  string
	over    bool
	mended  bool   // hist has put stand-ins into it, and may have closed it: it was cut off
	resumed int64  // line where the session went on after it was cut off, 0 if it did not
	unknown []call // no output: nobody knows what they did
	more    int    // how many more of them there are
}

// call is a call whose outcome is not known.
type call struct {
	tool, id string
	ran      []string // what it ran itself, with how that came out
}

// maxRan is how many of a script's own calls a card names.
const maxRan = 4

// prompt is a message to the agent.
type prompt struct {
	line     int64
	at       string
	chars    int
	text     string
	worked   bool // the model called a tool for it
	answered bool // it was answered in words, last of all
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
	case timeline.TurnStart:
		f.retire()
		before := f.turn
		f.turn = turnFacts{state: timeline.Open, number: e.Turn, line: e.Pos.Line, last: e.Time}
		if before.over && before.mended {
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
		f.prompt.worked, f.prompt.answered = true, false
		if !e.Answered || e.Outcome.State == session.StoodIn {
			f.turn.add(call{tool: e.Tool, id: e.CallID})
			f.turn.mended = f.turn.mended || e.Outcome.State == session.StoodIn
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

// at is the time of the day in brackets, with a space before it; nothing for a time that is not known.
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

// ran adds a call that a script made to what is told of the script, if its own outcome is not known.
func (t *turnFacts) ran(e *timeline.Entry) {
	for i := range t.unknown {
		if c := &t.unknown[i]; c.id == e.Within && len(c.ran) < maxRan {
			c.ran = append(c.ran, name(e.Tool)+" ("+e.Outcome.State.String()+")")
		}
	}
}

// retire moves the calls of a turn that is over to those of older turns.
func (f *facts) retire() {
	f.lost += len(f.turn.unknown) + f.turn.more
	f.older = append(f.older, f.turn.unknown...)
	f.older = f.older[max(0, len(f.older)-maxCalls):]
}

// finding takes over what lint found.
func (f *facts) finding(e *timeline.Entry) {
	f.counts[e.Finding.Impact]++
	switch e.Finding.Rule.Name {
	case "restart-gap":
		f.wentOn(e.Pos.Line)
	case "stale-wake":
		f.stale[e.Pos.Line] = true
	case "sandbox-only-failure":
		f.sandbox = append(f.sandbox, e.Finding.Message)
		f.sandbox = f.sandbox[max(0, len(f.sandbox)-maxSandbox):]
	case "missing-save":
		f.unsaved = true
	}
}

// wentOn notes that the session goes on at a line, after the newest turn that was cut off.
func (f *facts) wentOn(line int64) {
	f.restart, f.stopped, f.prompts, f.stale = line, f.left, nil, map[int64]bool{}
	if f.stopped == nil {
		return
	}
	f.stopped.resumed = line
	n := len(f.stopped.unknown) // they are told with it
	f.older, f.lost = f.older[:max(0, len(f.older)-n)], f.lost-n-f.stopped.more
}

// maxSandbox is how many turns with failures inside the sandbox are told, the newest.
const maxSandbox = 3

// finish settles what the end of the session tells.
func (f *facts) finish() {
	if (!f.turn.over || f.turn.mended) && f.turn.number > 0 && !f.live {
		f.stopped = &f.turn
		return
	}
	if f.live && !f.turn.over {
		f.turn.unknown, f.turn.more = nil, 0 // they run now
	}
	f.retire()
}

// damaged is how many findings are more than notes.
func (f *facts) damaged() int {
	return f.counts[lint.Shows] + f.counts[lint.Loses] + f.counts[lint.Rejects] + f.counts[lint.Blocks]
}
