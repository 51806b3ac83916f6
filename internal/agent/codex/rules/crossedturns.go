package rules

import (
	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/check"
	"github.com/hist-cli/hist/internal/session"
)

// crossedTurns follows turns that began while others ran. If one of these ends after all, two clients have written, each its own answers and
// counts. If none does, a client was killed in it.
type crossedTurns struct {
	open  map[uint64]bool // turns that run, by the hashes of their ids, and whether another one began in them
	wrote bool            // something has been said or counted since the newest one began: otherwise two records have only changed places
	here  bool            // the record in hand ends a turn in which another one began
}

// see takes the next record.
func (t *crossedTurns) see(rec *session.Record) {
	t.here = false
	switch rec.Kind {
	case session.TurnStart:
		id := codex.Sum(rec.TurnID)
		for other := range t.open {
			t.open[other] = t.open[other] || other != id
		}
		if _, again := t.open[id]; !again && len(t.open) < maxLeft {
			t.open[id] = false
		}
		t.wrote = false
	case session.TurnEnd:
		id := codex.Sum(rec.TurnID)
		t.here = t.open[id] && t.wrote
		delete(t.open, id)
	default:
		t.wrote = t.wrote || rec.Model || rec.Type == "event_msg/token_count"
	}
}

// begins says whether a record begins a turn while no other one runs.
func (t *crossedTurns) begins(rec *session.Record) bool {
	return rec.Kind == session.TurnStart && len(t.open) == 1
}

// saidAcross are the answers of turns that run at the same time: the last one of a turn need not be the last in the file.
type saidAcross struct {
	newest recent[struct{}] // by the hashes of their texts
	missed []*check.Claim   // what the ends of turns show to be lost, although it is among these
}

// maxSaid is how many answers are remembered.
const maxSaid = 256

// forget lets go of all that was said in turns that have ended.
func (s *saidAcross) forget() {
	s.newest.clear()
	s.missed = s.missed[:0]
}
