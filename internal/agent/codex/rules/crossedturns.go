package rules

import (
	"github.com/hist-cli/hist/internal/session"
)

// crossedTurns follows turns that began while others ran. If one of these ends after all, two clients have written, each its own answers: the
// last answer of a turn then need not be the last in the file. If none does, a client was killed in it.
type crossedTurns struct {
	open, left map[uint64]bool  // turns that run, by the hashes of their ids, and those of them in which another one began
	said       recent[struct{}] // the newest answers since one of these began, by the hashes of their texts
	missed     []session.Pos    // ends of turns whose answer was reported as lost since then, although it is among these
}

// maxSaid is how many answers are remembered.
const maxSaid = 256

func newCrossedTurns() crossedTurns {
	return crossedTurns{open: map[uint64]bool{}, left: map[uint64]bool{}, said: recent[struct{}]{limit: maxSaid}}
}

// begin takes the beginning of a turn.
func (t *crossedTurns) begin(id uint64) {
	if len(t.open) == 0 {
		t.said.clear()
		t.missed = t.missed[:0]
	}
	for other := range t.open {
		t.left[other] = t.left[other] || other != id
	}
	if len(t.open) < maxLeft {
		t.open[id] = true
	}
}

// end takes the end of a turn, and says whether another one began in it.
func (t *crossedTurns) end(id uint64) (crossed bool) {
	crossed = t.left[id]
	delete(t.open, id)
	delete(t.left, id)
	return crossed
}

// notMissed takes back that answers are lost which another client had said.
func (c *messageChecker) notMissed() {
	for _, at := range c.crossed.missed {
		c.run.WithdrawAt(ruleLostMessage, at)
	}
	c.crossed.missed = c.crossed.missed[:0]
}
