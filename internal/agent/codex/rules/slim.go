package rules

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/internal/surgery"
)

// Surgeon operates on rollouts.
type Surgeon struct{}

// Slim takes out what a compaction has replaced and, unless the view is to stay as it is, second copies of outputs and counts of tokens
// that later ones supersede.
func (sur Surgeon) Slim(s *surgery.Session, opts surgery.SlimOptions) (*surgery.Plan, error) {
	plan := &surgery.Plan{Sends: surgery.Same}
	n := newNeeded(s)
	replaced := plan.Group("replaced-by-compaction", "a compaction has replaced it: the client reads it no more")
	gone := map[session.Pos]bool{}
	drop := func(g *surgery.Group, rec *session.Record) {
		gone[rec.Pos] = true
		g.Drop(rec)
	}
	for i := range n.base {
		if rec := &s.Records[i]; n.mayGo(i, rec) && replaceable(rec.Type) {
			drop(replaced, rec)
		}
	}
	reviewed := plan.Group("images-of-reviews", "a second copy of an image, kept for the reviewer of approvals, who is sent texts: a note stands in its place")
	for i := range s.Records {
		if rec := &s.Records[i]; rec.Kind == session.Compaction && !gone[rec.Pos] && n.mayGo(i, rec) {
			withoutReviewed(reviewed, rec)
		}
	}
	if opts.Level >= surgery.Model {
		counts := plan.Group("counts-of-tokens", "a later record counts the tokens anew: only the usage that was shown in between is lost")
		copies := plan.Group("second-copies", "a second copy of an output, for the client's view: the model is sent the first one")
		for i := range s.Records {
			rec := &s.Records[i]
			switch {
			case gone[rec.Pos] || !n.mayGo(i, rec):
			case counting(rec.Type) && n.last[rec.Type] > i:
				drop(counts, rec)
			default:
				shortenCopy(copies, rec)
			}
		}
	}
	if opts.Level == surgery.Shorter {
		plan.Sends = surgery.Marked
		surgery.Shorten(s, sur, plan, opts)
	}
	if !replaced.Empty() {
		plan.Notes = append(plan.Notes, "in the slim session, nothing before the last compaction can be gone back to, forked or repaired any more; the original holds it")
	}
	return plan, nil
}

// needed is what a client needs of a session.
type needed struct {
	s     *surgery.Session
	base  int            // index of the last compaction that holds the whole history, 0 if there is none
	last  map[string]int // indexes of the last record of each type
	keep  map[int]bool
	owned int64 // a sub-agent's first own ordinal
}

func newNeeded(s *surgery.Session) *needed {
	n := &needed{s: s, last: map[string]int{}, keep: map[int]bool{}, owned: s.Info.SubagentStart}
	for i := range s.Records {
		rec := &s.Records[i]
		n.last[rec.Type] = i
		switch {
		case rec.Kind == session.Compaction && whole(rec):
			n.base = i
		case rec.Kind == session.Rollback: // it may go back beyond a compaction
			n.base = 0
		}
	}
	n.keepCalls()
	for _, t := range []string{"turn_context", "world_state"} {
		if i, ok := n.last[t]; ok {
			n.keep[i] = true // the client sends such blocks anew if it has none to compare with
		}
	}
	return n
}

// keepCalls keeps the calls in front of the compaction whose outputs stand behind it.
func (n *needed) keepCalls() {
	late := map[string]bool{}
	for i := n.base; i < len(n.s.Records); i++ {
		if rec := &n.s.Records[i]; rec.Kind == session.Output {
			late[callID(rec)] = true
		}
	}
	for i := range n.base {
		if rec := &n.s.Records[i]; rec.Kind == session.Call && late[callID(rec)] {
			n.keep[i] = true
		}
	}
}

func callID(rec *session.Record) string { return gjson.GetBytes(rec.Raw, "payload.call_id").String() }

// mayGo says whether a record may be changed at all: not the header, none that a sub-agent inherits, and none that can't be read.
func (n *needed) mayGo(i int, rec *session.Record) bool {
	inherited := rec.Ordinal.State == session.GoodOrdinal && rec.Ordinal.Value < n.owned
	return i > 0 && !n.keep[i] && !inherited && rec.Kind != session.Header && rec.Kind != session.Unreadable
}

// whole says whether a compaction replaces everything before it.
func whole(rec *session.Record) bool {
	p := gjson.GetBytes(rec.Raw, "payload")
	return p.Get("replacement_history").IsArray() && p.Get("window_number").Exists()
}

// replaceable says whether records of a type are of no more use once a compaction has replaced the history.
func replaceable(typ string) bool {
	switch typ {
	case "compacted", "turn_context", "world_state", "token_usage_record", "event_msg/token_count", "event_msg/thread_settings_applied":
		return true
	}
	return strings.HasPrefix(typ, "response_item/")
}

// counting says whether each record of a type supersedes the one before it.
func counting(typ string) bool {
	return typ == "event_msg/token_count" || typ == "token_usage_record" || typ == "event_msg/thread_settings_applied"
}

// isReviewed says whether a value is what a compaction keeps for the reviewer of approvals. Codex 0.171.0 sends it nowhere: with such a reviewer
// and without one, all requests after a resume are the same if it is gone.
func isReviewed(v *surgery.Value) bool {
	return len(v.Path) == 2 && v.Path[1] == "guardian_history"
}

func isImage(v *surgery.Value) bool {
	return v.IsObject() && v.Get("type").String() == "input_image" && strings.HasPrefix(v.Get("image_url").String(), "data:")
}

// noteText is a text in the place of an image.
func noteText(text string) []byte {
	return append(append([]byte(`{"type":"input_text","text":`), surgery.Quote(text)...), '}')
}

// withoutReviewed takes the images out of what a compaction keeps for the reviewer of approvals. The texts stay.
func withoutReviewed(g *surgery.Group, rec *session.Record) {
	var cuts []session.Cut
	surgery.Walk(rec.Raw, func(v *surgery.Value) bool {
		if len(v.Path) == 2 && !isReviewed(v) {
			return false
		}
		if !isImage(v) {
			return true
		}
		size := v.End - v.Start
		if note := noteText(surgery.TakenOut(size)); len(note) < size {
			cuts = append(cuts, v.Instead(note))
		}
		return false
	})
	g.Cut(rec, cuts...)
}

// copyKept is how many bytes of a second copy of an output stay.
const copyKept = 200

// shortenCopy cuts a second copy of an output down to its beginning.
func shortenCopy(g *surgery.Group, rec *session.Record) {
	if rec.Type != "event_msg/item_completed" && rec.Type != "event_msg/exec_command_end" {
		return
	}
	var cuts []session.Cut
	for _, path := range []string{"payload.item.aggregated_output", "payload.aggregated_output", "payload.stdout", "payload.stderr", "payload.formatted_output"} {
		v, ok := surgery.At(rec.Raw, path)
		if !ok || v.Type != gjson.String || len(v.Raw) < 2*copyKept {
			continue
		}
		head := []rune(v.String())
		head = head[:min(len(head), copyKept)]
		cuts = append(cuts, v.Instead(surgery.Quote(string(head)+"… "+surgery.Mark+surgery.Bytes(int64(len(v.String())))+" in all; the output itself stands in its own record]")))
	}
	if len(cuts) > 0 {
		g.Cut(rec, cuts...)
	}
}

// Media are the images of a message or an output, and the texts of an output.
func (Surgeon) Media(rec *session.Record) (list []surgery.Medium) {
	switch rec.Kind {
	case session.Message, session.Output, session.Compaction:
	default:
		return nil
	}
	output := rec.Kind == session.Output
	surgery.Walk(rec.Raw, func(v *surgery.Value) bool {
		switch {
		case isImage(v):
			list = append(list, surgery.Medium{Value: *v, Image: true, Note: noteText})
			return false
		case isReviewed(v):
			return false
		}
		if output && v.Type == gjson.String && len(v.Path) > 1 && v.Path[1] == "output" && (len(v.Path) == 2 || v.Key() == "text") {
			list = append(list, surgery.Medium{Value: *v, Note: surgery.Quote})
		}
		return true
	})
	return list
}
