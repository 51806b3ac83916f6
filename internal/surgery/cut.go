package surgery

import (
	"bytes"
	"context"

	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/internal/timeline"
)

// Turn is a turn of a session, numbered as `hist show` does.
type Turn struct {
	Number     int
	Start, End session.Pos // its first and its last record
	Closed     bool        // the client has written that it ended
	Open       bool        // nothing says that it ended
}

// Turns lists a session's turns.
func (s *Session) Turns() ([]Turn, error) {
	var list []Turn
	err := timeline.Read(context.Background(), bytes.NewReader(s.Text), timeline.Options{Agent: s.Agent}, func(e *timeline.Entry) error {
		if e.Turn == 0 {
			return nil
		}
		if len(list) == 0 || list[len(list)-1].Number != e.Turn {
			list = append(list, Turn{Number: e.Turn, Start: e.Pos})
		}
		t := &list[len(list)-1]
		if t.End.Less(e.Pos) {
			t.End = e.Pos
		}
		t.Open = t.Open || e.Kind == timeline.TurnEnd && e.State == timeline.Open
		return nil
	})
	return list, err
}

// Place is where a session is cut: behind a record.
type Place struct {
	All     bool // nothing is cut
	InPlace bool // the session itself is changed, in its client's own shape
	Purge   bool // InPlace: what is cut leaves the file, too
	// Turn is the last turn that stays; its Number is 0 if none does.
	Turn Turn
	Next session.Pos // where the first turn behind it begins; zero if there is none
	// Within is the last record that stays, if the cut is inside of a turn; else zero.
	Within session.Pos
	// Dropped is how many turns are cut.
	Dropped int
}
