package claude

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/agent/claude/format"
	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/internal/surgery"
)

// Cut ends a session behind a place: the copy holds the way to that, and nothing else. In place, the client is told to go on there, in
// the way in which it notes that itself; what was cut stays in the file unless it is to be purged.
func (Surgeon) Cut(s *surgery.Session, at *surgery.Place) (*surgery.Plan, error) {
	plan := &surgery.Plan{Copy: true, Sends: surgery.Prefix}
	if at.All {
		plan.Sends = surgery.Same
		return plan, nil
	}
	t := newTree(s)
	leaf := t.leafAt(at)
	if leaf == nil {
		return nil, surgery.Refuse("turn %d holds nothing at which the session could end", at.Turn.Number)
	}
	plan.Sends = t.relation(leaf)
	if plan.Sends == surgery.Anew {
		plan.Notes = append(plan.Notes, "this place is on no way to what is sent now, because of a compaction or a branch that was left: the result sends it again as it was")
	}
	kept := t.until(leaf, at, plan.Sends == surgery.Anew)
	if at.InPlace && !at.Purge {
		if t.pointAt(plan, leaf, kept) {
			t.interrupt(plan, kept)
		}
		return plan, nil
	}
	pointed := false
	g := plan.Group("cut", "it is not on the way to the place at which the session is cut")
	for i := range s.Records {
		rec := &s.Records[i]
		n := t.by[rec]
		switch {
		case rec.Kind == session.Unreadable && i < at.Next:
		case n != nil && kept[n]:
		case n == nil && i <= leaf.index && typeOf(rec) != "last-prompt":
		case n == nil && (typeOf(rec) == "custom-title" || typeOf(rec) == "agent-name"):
		default:
			g.Drop(rec)
			pointed = pointed || typeOf(rec) == "last-prompt"
		}
	}
	t.newRoots(plan, kept)
	t.end(plan, leaf, kept)
	if pointed {
		last := leaf
		for _, n := range t.nodes {
			if kept[n] && n.index > last.index {
				last = n
			}
		}
		plan.Group("pointer", "the client is told where the session ends").Behind(last.rec, t.lastPrompt(leaf, leaf.uuid, ""))
	}
	return plan, nil
}

// leafAt is the record at which the session ends: the last one of the turn, or the one that was named.
func (t *tree) leafAt(at *surgery.Place) (leaf *node) {
	if at.Within >= 0 {
		return t.by[&t.s.Records[at.Within]]
	}
	start := t.s.Index(at.Turn.Start)
	var first, live *node
	for _, n := range t.nodes {
		if n.index < start || n.index >= at.Next || n.side {
			continue
		}
		if t.s.MaySend(n.rec.Pos) && t.byID[n.uuid] == n && (n.typ == "user" || n.typ == "assistant") {
			live = n // also behind a compaction in the middle of the turn, which nothing ties to its prompt
		}
		if first == nil {
			first = n
		}
		if t.byID[n.uuid] == n && t.under(n, first) {
			leaf = n
		}
	}
	return cmp.Or(live, leaf)
}

// under says whether a record is another one or hangs below it.
func (t *tree) under(n, top *node) bool {
	for seen := 0; n != nil && seen <= len(t.nodes); n, seen = t.byID[n.parent], seen+1 {
		if n == top {
			return true
		}
	}
	return false
}

// relation says how what is sent at a record relates to what is sent now.
func (t *tree) relation(leaf *node) surgery.Relation {
	for n, seen := leaf, 0; n != nil && seen <= len(t.nodes); n, seen = t.byID[n.parent], seen+1 {
		if (n.typ == "user" || n.typ == "assistant") && !t.s.MaySend(n.rec.Pos) {
			return surgery.Anew
		}
	}
	for _, n := range t.nodes {
		if n.index > leaf.index && n.typ == "system" && strings.Contains(string(n.rec.Raw), `"compact_boundary"`) && t.s.MaySend(n.rec.Pos) {
			return surgery.Anew
		}
	}
	return surgery.Prefix
}

// until are the records that lead to one, with what is sent together with them. anew says that what is not sent now is sent then.
func (t *tree) until(leaf *node, at *surgery.Place, anew bool) map[*node]bool {
	way := map[*node]bool{}
	for n := leaf; n != nil && !way[n]; n = t.byID[n.parent] {
		way[n] = true
	}
	t.kept = t.preservedBy(way)
	set := map[*node]bool{}
	t.above(leaf, set)
	for n := range t.kept {
		t.above(n, set)
	}
	before := func(n *node) bool { return n.index < at.Next && (at.Within < 0 || n.index <= leaf.index) }
	t.beside(set, func(n *node) bool { return before(n) && (anew || t.s.MaySend(n.rec.Pos)) })
	for _, n := range t.nodes {
		if n.typ != "user" && n.typ != "assistant" && set[t.byID[n.parent]] && before(n) {
			set[n] = true
		}
	}
	return set
}

// lost are the calls whose results are outside of a set, by true; false says that they are in it. What never had a result is not lost.
func (t *tree) lost(kept map[*node]bool) map[string]bool {
	lost := map[string]bool{}
	for n := range kept {
		for _, id := range n.results {
			lost[id] = false
		}
	}
	for _, n := range t.nodes {
		for _, id := range n.results {
			if _, stays := lost[id]; !stays {
				lost[id] = true
			}
		}
	}
	return lost
}

// interrupted stands in the place of a result that is cut.
const interrupted = "[Tool call interrupted: the session was cut here]"

// interrupt makes the results of calls in front of the place, which stay in the file behind it, say that they were interrupted: the client
// would find them there.
func (t *tree) interrupt(plan *surgery.Plan, kept map[*node]bool) {
	lost := t.lost(kept)
	answers := map[string]bool{} // of which the client sends all parts, wherever they stand
	for n := range kept {
		answers[n.message] = n.message != ""
	}
	called := map[string]bool{}
	for _, n := range t.nodes {
		for _, id := range n.calls {
			called[id] = lost[id] && (kept[n] || answers[n.message])
		}
	}
	g := plan.Group("closed", "the result of a call in front of the place stands behind it, where the client would find it: it says that it was interrupted")
	for _, n := range t.nodes {
		var cuts []session.Cut
		for i, b := range gjson.GetBytes(n.rec.Raw, "message.content").Array() {
			id := b.Get("tool_use_id").String()
			if b.Get("type").String() != "tool_result" || !called[id] {
				continue
			}
			at := fmt.Sprintf("message.content.%d.", i)
			said, ok := surgery.At(n.rec.Raw, at+"content")
			if !ok {
				continue
			}
			by := surgery.Quote(interrupted)
			if failed, ok := surgery.At(n.rec.Raw, at+"is_error"); ok {
				cuts = append(cuts, failed.Instead([]byte("true")))
			} else {
				by = append(by, `,"is_error":true`...)
			}
			cuts = append(cuts, said.Instead(by))
			if !slices.Contains(plan.Closed, id) {
				plan.Closed = append(plan.Closed, id)
			}
		}
		if second, ok := surgery.At(n.rec.Raw, "toolUseResult"); ok && len(cuts) > 0 {
			cuts = append(cuts, second.Instead(surgery.Quote("Error: "+interrupted)))
		}
		slices.SortFunc(cuts, func(a, b session.Cut) int { return cmp.Compare(a.Start, b.Start) })
		g.Cut(n.rec, cuts...)
	}
	if !g.Empty() {
		plan.Notes = append(plan.Notes, "what the interrupted calls had brought is kept in the run's record only")
	}
}

// end answers calls that have lost their results, as the client does it when it is interrupted, and makes the session's end its latest
// message, because clients up to 2.1.2 go on there.
func (t *tree) end(plan *surgery.Plan, leaf *node, kept map[*node]bool) {
	lost := t.lost(kept)
	late := time.Time{}
	for n := range kept {
		if at := n.time(); n != leaf && (n.typ == "user" || n.typ == "assistant") && at.After(late) {
			late = at
		}
	}
	own := leaf.time()
	g := plan.Group("closed", "a call that has lost its result is answered as its client does it when it is interrupted")
	up := leaf.uuid
	for _, n := range t.nodes {
		if !kept[n] {
			continue
		}
		for _, id := range n.calls {
			if !lost[id] {
				continue
			}
			delete(lost, id)
			block := fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","content":%s,"is_error":true,"tool_use_id":%s}]}`, surgery.Quote(interrupted), surgery.Quote(id))
			uuid := format.NewID("cut", leaf.uuid, id)
			if own.After(late) {
				late = own
			}
			late = late.Add(time.Millisecond)
			g.Behind(leaf.rec, lineBy(leaf, up, uuid, stamp(late), "user", `"message":`+block+`,"sourceToolAssistantUUID":`+string(surgery.Quote(n.uuid))))
			up = uuid
			plan.Closed = append(plan.Closed, id)
		}
	}
	if v, ok := surgery.At(leaf.rec.Raw, "timestamp"); ok && up == leaf.uuid && !own.IsZero() && !own.After(late) {
		plan.Group("latest", "clients up to 2.1.2 go on at the message with the latest time").Cut(leaf.rec, v.Instead(surgery.Quote(stamp(late.Add(time.Millisecond)))))
	}
}

// time is when a record was written; zero if it does not say that.
func (n *node) time() time.Time {
	at, _ := time.Parse(time.RFC3339Nano, gjson.GetBytes(n.rec.Raw, "timestamp").String())
	return at
}

func stamp(at time.Time) string { return at.UTC().Format(format.TimeForm) }

// pointAt tells the client to go on at a record: a notice under it, and a last-prompt that names the notice. The notice comes behind the
// attachments that hang there, as those of a compaction do: beside them, the next resume but one would not send them. It is false if the client
// goes on there already.
func (t *tree) pointAt(plan *surgery.Plan, leaf *node, kept map[*node]bool) bool {
	last := &t.s.Records[len(t.s.Records)-1]
	uuid := format.NewID("point", leaf.uuid)
	tip := leaf
	for _, n := range t.nodes {
		if kept[n] && n.index > tip.index && n.typ != "user" && n.typ != "assistant" && t.byID[n.parent] == tip {
			tip = n
		}
	}
	pointer := t.lastPrompt(leaf, uuid, `,"hist":"chosen"`)
	if bytes.Equal(bytes.TrimSpace(last.Raw), pointer) {
		return false
	}
	g := plan.Group("gone-back", "the client is told to go on at the place, as it notes a rewind itself")
	g.Behind(last, lineBy(leaf, tip.uuid, uuid, gjson.GetBytes(leaf.rec.Raw, "timestamp").String(), "system", `"subtype":"informational","content":"The conversation goes on from here.","isMeta":false,"level":"info"`))
	g.Behind(last, pointer)
	plan.Notes = append(plan.Notes, "what was cut is still in the file; --purge takes it out")
	return true
}

// lastPrompt is the client's record of where a session ends, and of the prompt that led there.
func (t *tree) lastPrompt(leaf *node, uuid, more string) []byte {
	prompt := ""
	for n, seen := leaf, 0; n != nil && prompt == "" && seen <= len(t.nodes); n, seen = t.byID[n.parent], seen+1 {
		if v := gjson.GetBytes(n.rec.Raw, "message.content"); n.typ == "user" && v.Type == gjson.String {
			prompt = v.String()
		}
	}
	return fmt.Appendf(nil, `{"type":"last-prompt","lastPrompt":%s,"leafUuid":%s,"sessionId":%s%s}`, surgery.Quote(prompt), surgery.Quote(uuid), quoted(leaf.rec, "sessionId"), more)
}

func quoted(rec *session.Record, path string) []byte {
	return surgery.Quote(gjson.GetBytes(rec.Raw, path).String())
}

// lineBy is a new record of the tree, with the setting of one beside it.
func lineBy(beside *node, parent, uuid, timestamp, typ, more string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"parentUuid":%s,"isSidechain":false,"userType":"external"`, surgery.Quote(parent))
	for _, key := range []string{"cwd", "sessionId", "version", "gitBranch"} {
		if v := gjson.GetBytes(beside.rec.Raw, key); v.Type == gjson.String {
			fmt.Fprintf(&b, `,%q:%s`, key, v.Raw)
		}
	}
	fmt.Fprintf(&b, `,"type":%q,%s,"uuid":%q,"timestamp":%s}`, typ, more, uuid, surgery.Quote(timestamp))
	return b.Bytes()
}
