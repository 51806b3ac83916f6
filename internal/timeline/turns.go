package timeline

import (
	"bytes"
	"context"

	"github.com/hist-cli/hist/internal/surgery"
)

// Turns lists the turns of a session that is operated on.
func Turns(s *surgery.Session) ([]surgery.Turn, error) {
	var list []surgery.Turn
	err := Read(context.Background(), bytes.NewReader(s.Text), Options{Agent: s.Agent}, func(e *Entry) error {
		if e.Turn == 0 {
			return nil
		}
		if len(list) == 0 || list[len(list)-1].Number != e.Turn {
			list = append(list, surgery.Turn{Number: e.Turn, Start: e.Pos})
		}
		t := &list[len(list)-1]
		if t.End.Less(e.Pos) {
			t.End = e.Pos
		}
		if e.Kind == TurnStart || e.Kind == Prompt {
			t.Named = append(t.Named, e.Pos)
		}
		return nil
	})
	return list, err
}
