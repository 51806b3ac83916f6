package rules

import (
	"encoding/json"
	"fmt"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent/codex"
	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/internal/surgery"
)

// Cut ends a rollout behind a place. A copy is whole by itself: it ends where its client would end it, behind the end of a turn. In
// place, a rollout without ordinals gets the line by which its client takes turns back; one with ordinals loses the lines.
func (Surgeon) Cut(s *surgery.Session, at *surgery.Place) (*surgery.Plan, error) {
	plan := &surgery.Plan{Copy: true, Sends: surgery.Prefix}
	if s.Info.BaseThread != "" {
		plan.Notes = append(plan.Notes, "the copy relies on the session that this one was forked from, "+s.Info.BaseThread+", as this one does")
	}
	if at.All {
		plan.Sends = surgery.Same
		return plan, nil
	}
	end := at.Within
	if end < 0 {
		end = turnEnd(s, at)
	}
	if s.Records[end].Ordinal.State == session.GoodOrdinal && s.Records[end].Ordinal.Value < s.Info.SubagentStart {
		return nil, surgery.Refuse("the place is in what the session inherits; cut the session that it was forked from")
	}
	undone, err := behind(s, at, end)
	if err != nil {
		return nil, err
	}
	if undone {
		plan.Sends = surgery.Anew
		plan.Notes = append(plan.Notes, "a compaction behind this place has replaced what was sent here: the copy sends it again as it was")
	}
	if at.InPlace && !at.Purge && !s.Info.Paginated() && at.Within < 0 && !undone {
		return rollBack(s, plan, end), nil
	}
	g := plan.Group("cut", "it comes behind the place at which the session is cut")
	for i := end + 1; i < len(s.Records); i++ {
		g.Drop(&s.Records[i])
	}
	if at.Within >= 0 {
		closeTurn(s, plan, at, end)
	}
	return plan, nil
}

// turnEnd is the index of the last record of a turn: the one that ends it or, where the client writes none, the last that is not
// about the turn behind it.
func turnEnd(s *surgery.Session, at *surgery.Place) int {
	end := s.Index(at.Turn.End)
	if s.Records[end].Kind == session.TurnEnd {
		return end
	}
	for end = at.Next - 1; end > 0; end-- {
		switch rec := &s.Records[end]; {
		case rec.Kind == session.Context, rec.Type == "world_state", rec.Type == "event_msg/thread_settings_applied":
		default:
			return end
		}
	}
	return end
}

// behind looks at what comes behind the place: whether a compaction does, which is then undone. It is an error if turns in front of
// the place were taken back behind it.
func behind(s *surgery.Session, at *surgery.Place, end int) (undone bool, err error) {
	rolled := false
	for i := end + 1; i < len(s.Records); i++ {
		rec := &s.Records[i]
		undone = undone || rec.Kind == session.Compaction
		rolled = rolled || rec.Kind == session.Rollback
	}
	if !rolled {
		return undone, nil
	}
	for i := range end + 1 {
		if rec := &s.Records[i]; rec.Model && !s.MaySend(rec.Pos) && !undone {
			return false, surgery.Refuse("turn %d, or one in front of it, was taken back later: a session that ends there would send it again; cut behind that", at.Turn.Number)
		}
	}
	return undone, nil
}

// rollBack takes the turns behind the place back as the client does it in a rollout without ordinals.
func rollBack(s *surgery.Session, plan *surgery.Plan, end int) *surgery.Plan {
	turns := 0
	for i := end + 1; i < len(s.Records); i++ {
		if rec := &s.Records[i]; rec.Boundary && s.MaySend(rec.Pos) {
			turns++
		}
	}
	if turns == 0 {
		return plan // they were taken back already
	}
	last := &s.Records[len(s.Records)-1]
	g := plan.Group("rolled-back", "the turns behind the place are taken back as the client does it")
	g.Behind(last, fmt.Appendf(nil, `{"timestamp":%s,"type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":%d}}`, surgery.Quote(codex.StampOf(last.Raw)), turns))
	plan.Notes = append(plan.Notes, "what was cut is still in the file; --purge takes it out")
	return plan
}

// closeTurn ends the turn in which the session is cut: calls that have lost their outputs are aborted, as the client does it.
func closeTurn(s *surgery.Session, plan *surgery.Plan, at *surgery.Place, end int) {
	last := &s.Records[end]
	open := map[string]*session.Record{}
	var order []string
	for i := range end + 1 {
		switch rec := &s.Records[i]; rec.Kind {
		case session.Call:
			open[callID(rec)] = rec
			order = append(order, callID(rec))
		case session.Output:
			delete(open, callID(rec))
		}
	}
	g := plan.Group("closed", "the turn is ended as its client ends one that is interrupted")
	for _, id := range order {
		call := open[id]
		if call == nil {
			continue
		}
		delete(open, id)
		p := gjson.GetBytes(call.Raw, "payload")
		if p.Get("type").String() == "tool_search_call" && p.Get("execution").String() == "server" {
			continue
		}
		tool := codex.Tool{Type: p.Get("type").String(), Name: p.Get("name").String(), CallID: id}
		g.Behind(last, codex.NewOutput(tool, codex.StampOf(last.Raw), json.RawMessage(`"aborted"`)))
		plan.Closed = append(plan.Closed, id)
	}
	start := s.Index(at.Turn.Start)
	if start < 0 || s.Records[start].Kind != session.TurnStart || s.Records[end].Kind == session.TurnEnd {
		return
	}
	id := gjson.GetBytes(s.Records[start].Raw, "payload.turn_id").String()
	g.Behind(last, fmt.Appendf(nil, `{"timestamp":%s,"type":"event_msg","payload":{"type":"turn_aborted","turn_id":%s,"reason":"interrupted"}}`, surgery.Quote(codex.StampOf(last.Raw)), surgery.Quote(id)))
}
