package check

import (
	"github.com/hist-cli/hist/internal/finding"
	"github.com/hist-cli/hist/internal/session"
)

// Turns follows where turns begin and end, for an agent whose format says both.
type Turns struct {
	run    *Run
	enc    Encoder
	open   *Open
	last   session.Pos // of the turn's newest record
	prompt *Open       // that has no answer yet
}

// NewTurns makes the checker for one session.
func NewTurns(run *Run, enc Encoder) *Turns { return &Turns{run: run, enc: enc} }

// Record takes the next record into account.
func (c *Turns) Record(rec *session.Record) {
	switch {
	case rec.Kind == session.Unreadable:
		return
	case rec.Kind == session.TurnStart:
		c.neverEnded()
		open := openOf(rec, rec.TurnID)
		c.open = &open
	case rec.Kind == session.TurnEnd:
		c.open = nil
	case rec.Boundary:
		prompt := openOf(rec, rec.ID)
		c.prompt = &prompt
	case rec.Answer:
		c.prompt = nil
	}
	c.last = rec.Pos
}

// neverEnded reports the turn in hand, if it is open.
func (c *Turns) neverEnded() {
	if c.open != nil {
		f := c.open.finding(OpenTurn, finding.Exact, "the turn that begins here neither completed nor was aborted", c.enc.EndTurn(*c.open, c.last))
		f.Lost = 0
		c.run.Report(f)
		c.open = nil
	}
}

// End reports what the session ends in the middle of.
func (c *Turns) End() {
	if c.run.Options().Live {
		return
	}
	c.neverEnded()
	if c.prompt != nil {
		f := c.prompt.finding(UnansweredPrompt, finding.NoFix, "the last prompt got no answer", nil)
		f.Lost = 0
		c.run.Report(f)
	}
}
