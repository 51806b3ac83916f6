package pi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/internal/surgery"
)

// What may be changed in a healthy session of pi: the chain that is sent ends with the last record of the file, and every record of it is a
// link.

// Surgeon operates on sessions of pi.
type Surgeon struct{}

// tree is a session's records by their ids.
type tree struct {
	s     *surgery.Session
	byID  map[string]*session.Record
	chain []*session.Record // from the leaf up
	on    map[*session.Record]bool
}

func member(rec *session.Record, path string) string { return gjson.GetBytes(rec.Raw, path).String() }

// newTree follows the chain up from the newest record before a place in the file.
func newTree(s *surgery.Session, before int) *tree {
	t := &tree{s: s, byID: map[string]*session.Record{}}
	var leaf *session.Record
	for i := range s.Records {
		if rec := &s.Records[i]; rec.Kind != session.Unreadable && rec.Kind != session.Header {
			t.byID[member(rec, "id")] = rec
			if i < before {
				leaf = rec
			}
		}
	}
	t.follow(leaf)
	return t
}

func (t *tree) follow(leaf *session.Record) {
	t.chain, t.on = nil, map[*session.Record]bool{}
	for rec := leaf; rec != nil && !t.on[rec]; rec = t.byID[member(rec, "parentId")] {
		t.chain, t.on[rec] = append(t.chain, rec), true
	}
}

// linked says whether the session's records have ids: those of version 1 have none.
func linked(s *surgery.Session) error {
	for i := range s.Records {
		if s.Records[i].Kind == session.Call || s.Records[i].Kind == session.Message {
			if member(&s.Records[i], "id") == "" {
				return surgery.Refuse("the session is of version 1, whose records have no ids: resume a copy of it once, which the client rewrites")
			}
		}
	}
	return nil
}

// Slim takes out what is not on the chain that is sent and, unless all stays that the client shows, what a compaction has summed up.
func (sur Surgeon) Slim(s *surgery.Session, opts surgery.SlimOptions) (*surgery.Plan, error) {
	plan := &surgery.Plan{Sends: surgery.Same}
	if err := linked(s); err != nil {
		return nil, err
	}
	t := newTree(s, len(s.Records))
	off := plan.Group("off-the-chain", "it is on no way to what is sent: a branch that was left, or what a compaction has replaced")
	second := plan.Group("second-copies", "details of a tool's result, for the client's view: the model is not sent them")
	if at := slices.IndexFunc(t.chain, func(rec *session.Record) bool { return rec.Type == "compaction" }); at >= 0 && opts.Level != surgery.Exact {
		kept := slices.Index(t.chain, t.byID[member(t.chain[at], "firstKeptEntryId")])
		t.chain = t.chain[:max(at, kept)+1]
	}
	stays := map[*session.Record]bool{}
	for _, rec := range t.chain {
		stays[rec] = true
	}
	for i := range s.Records {
		rec := &s.Records[i]
		switch {
		case rec.Kind == session.Unreadable, rec.Kind == session.Header, rec.Type == "session_info":
		case !stays[rec] && !(rec.Type == "label" && stays[t.byID[member(rec, "targetId")]]): // a bookmark of what stays
			off.Drop(rec)
		case opts.Level != surgery.Exact && rec.Kind == session.Output:
			if v, ok := surgery.At(rec.Raw, "message.details"); ok && len(v.Raw) > 64 {
				second.Cut(rec, session.DropMember(rec.Raw, "message", "details"))
			}
		}
	}
	t.roots(plan, func(rec *session.Record) bool { return stays[rec] || rec.Type == "session_info" })
	if opts.Level == surgery.Shorter {
		plan.Sends = surgery.Marked
		first := surgery.Shorten(s, sur, plan, opts)
		g := plan.Group("bound-thinking", "thinking that is bound to what was changed before it: the model's API would refuse it")
		for _, rec := range t.chain {
			if surgery.Bound(rec, first) && signed(rec) {
				g.Cut(rec, thinking(rec, func(gjson.Result) bool { return true })...)
			}
		}
		if !g.Empty() && !opts.DropThinking {
			return nil, surgery.Refuse("thinking is bound to what would change before it, and the model's API would refuse it; --drop-thinking takes such thinking out")
		}
	}
	if !off.Empty() {
		plan.Notes = append(plan.Notes, "in the slim session, branches that were left and what stood before the last compaction can't be gone back to, forked or repaired any more; the original holds them")
	}
	return plan, nil
}

// roots hangs what stays on the next record above it that stays, where the one between goes.
func (t *tree) roots(plan *surgery.Plan, stays func(*session.Record) bool) {
	g := plan.Group("new-roots", "the record that it hangs on goes: it is hung on the next one above that stays")
	for i := range t.s.Records {
		rec := &t.s.Records[i]
		v, _ := surgery.At(rec.Raw, "parentId")
		if v.Type != gjson.String || !stays(rec) {
			continue
		}
		up := t.byID[v.String()]
		for n := len(t.byID); n > 0 && up != nil && !stays(up); n-- {
			up = t.byID[member(up, "parentId")]
		}
		by := []byte("null")
		if up != nil && stays(up) {
			by = surgery.Quote(member(up, "id"))
		}
		if string(by) != v.Raw {
			g.Cut(rec, v.Instead(by))
		}
	}
}

// Cut ends a session behind a place: a copy holds the chain up to it. In place, a record that says nothing is hung behind it, so that the chain
// ends there; what was cut stays in the file as a branch unless it is to be purged.
func (Surgeon) Cut(s *surgery.Session, at *surgery.Place) (*surgery.Plan, error) {
	plan := &surgery.Plan{Copy: true, Sends: surgery.Prefix}
	if err := linked(s); err != nil {
		return nil, err
	}
	if at.All {
		plan.Sends = surgery.Same
		return plan, nil
	}
	t := newTree(s, at.Next)
	live := newTree(s, len(s.Records))
	if at.Within >= 0 {
		t.follow(&s.Records[at.Within])
	}
	if len(t.chain) == 0 {
		return nil, surgery.Refuse("turn %d holds nothing at which the session could end", at.Turn.Number)
	}
	leaf := t.chain[0]
	for _, rec := range t.chain {
		if !live.on[rec] {
			plan.Sends = surgery.Anew
		}
	}
	for _, rec := range live.chain {
		if rec.Type == "compaction" && !t.on[rec] {
			plan.Sends = surgery.Anew
		}
	}
	if plan.Sends == surgery.Anew {
		plan.Notes = append(plan.Notes, "this place is on no way to what is sent now, because of a compaction or a branch that was left: the result sends it again as it was")
	}
	last := &s.Records[len(s.Records)-1]
	if at.InPlace && !at.Purge {
		if member(last, "id") == newID("cut", member(leaf, "id")) {
			return plan, nil // the client goes on there already
		}
		g := plan.Group("gone-back", "the client goes on from the last record of the file: this one, which says nothing, hangs on the place")
		g.Behind(last, newLine("custom", newID("cut", member(leaf, "id")), member(leaf, "id"), member(leaf, "timestamp"), `"customType":"hist.branch","data":{}`))
		plan.Notes = append(plan.Notes, "what was cut is still in the file; --purge takes it out")
		return plan, nil
	}
	g := plan.Group("cut", "it is not on the way to the place at which the session is cut")
	for i := range s.Records {
		if rec := &s.Records[i]; rec.Kind != session.Header && !t.on[rec] && (rec.Kind != session.Unreadable || i >= at.Next) {
			g.Drop(rec)
		}
	}
	t.roots(plan, func(rec *session.Record) bool { return t.on[rec] })
	return plan, nil
}

// Move names the new directory in the header, by which the client knows where to work, or in every text.
func (Surgeon) Move(s *surgery.Session, opts surgery.MoveOptions) (*surgery.Plan, error) {
	plan := &surgery.Plan{Sends: surgery.Same, Copy: true}
	if opts.Rewrite == surgery.RewriteHistory {
		return plan, surgery.RewriteUnbound(s, plan, opts, signed, "the client works in the new directory")
	}
	if opts.Rewrite == surgery.RewriteNone {
		return plan, nil
	}
	g := plan.Group("directory", "the client works in the directory that it names")
	for i := range s.Records {
		rec := &s.Records[i]
		if v, ok := surgery.At(rec.Raw, "cwd"); ok && rec.Kind == session.Header {
			if to, ok := opts.Moved(v.String()); ok {
				g.Cut(rec, v.Instead(surgery.Quote(to)))
			}
			break
		}
	}
	return plan, nil
}

// Redact takes out thinking with a secret in it, which must not be altered, thinking that only its provider can read, and thinking that is bound
// to what was changed.
func (Surgeon) Redact(s *surgery.Session, r *surgery.Redaction, _ surgery.RedactOptions) error {
	g := r.Group("thinking", "thinking that holds a secret, that only its provider can read, or that is bound to what was changed before it: it can't be altered")
	first := r.First()
	for i := range s.Records {
		rec := &s.Records[i]
		if rec.Kind == session.Unreadable {
			continue
		}
		all := r.Thinking[rec] || surgery.Bound(rec, first) && signed(rec)
		g.Cut(rec, thinking(rec, func(b gjson.Result) bool {
			return all || b.Get("redacted").Bool() || strings.HasPrefix(b.Get("thinkingSignature").String(), `{"`)
		})...)
	}
	if !g.Empty() {
		r.Notes = append(r.Notes, "thinking was taken out: "+g.Why)
	}
	return nil
}

// thinking takes blocks of thinking out of an answer.
func thinking(rec *session.Record, goes func(b gjson.Result) bool) (cuts []session.Cut) {
	content, _ := surgery.At(rec.Raw, "message.content")
	content.ForEach(func(_, b gjson.Result) bool {
		if b.Get("type").String() == "thinking" && goes(b) {
			cuts = append(cuts, session.Without(b))
		}
		return true
	})
	return cuts
}

// signed says whether a record holds thinking that its provider has signed.
func signed(rec *session.Record) bool {
	return len(thinking(rec, func(b gjson.Result) bool { return b.Get("thinkingSignature").String() != "" })) > 0
}

// Media are the images of a message, and the texts of a result.
func (Surgeon) Media(rec *session.Record) (list []surgery.Medium) {
	content, ok := surgery.At(rec.Raw, "message.content")
	if !ok {
		return nil
	}
	content.ForEach(func(_, b gjson.Result) bool {
		switch typ := b.Get("type").String(); {
		case typ == "image":
			list = append(list, surgery.Medium{Value: surgery.Value{Result: b, Start: b.Index, End: b.Index + len(b.Raw)}, Image: true, Note: surgery.TextBlock})
		case typ == "text" && rec.Kind == session.Output:
			v := b.Get("text")
			list = append(list, surgery.Medium{Value: surgery.Value{Result: v, Start: v.Index, End: v.Index + len(v.Raw)}, Note: surgery.Quote})
		}
		return true
	})
	return list
}

// Compose writes a session of pi that says what another agent's said: the records that its client needs, and no more.
func (Surgeon) Compose(h *surgery.Handoff, thread, cwd string, now time.Time) []byte {
	var b bytes.Buffer
	at, up, taken := now.Add(-time.Duration(len(h.Steps))*time.Millisecond).UTC(), []byte("null"), map[string]int{}
	stamp := func() string { return at.Format(timeForm) }
	fmt.Fprintf(&b, `{"type":"session","version":3,"id":%s,"timestamp":%q,"cwd":%s}`+"\n", surgery.Quote(thread), stamp(), surgery.Quote(cwd))
	say := func(m map[string]any) {
		at = at.Add(time.Millisecond)
		id := surgery.Quote(freshID(taken, thread, len(taken)))
		m["timestamp"] = at.UnixMilli()
		fmt.Fprintf(&b, `{"type":"message","id":%s,"parentId":%s,"timestamp":%q,"message":%s}`+"\n", id, up, stamp(), surgery.JSON(m))
		up = id
	}
	answer := func(stop string, blocks ...any) {
		say(map[string]any{"role": "assistant", "content": blocks, "api": "hist", "provider": "hist", "model": "handed-over", "usage": json.RawMessage(noUsage), "stopReason": stop})
	}
	for i := 0; i < len(h.Steps); {
		s := &h.Steps[i]
		i++
		switch {
		case s.Output:
			say(map[string]any{"role": "toolResult", "toolCallId": "call_" + newID(thread, s.Call), "toolName": "bash", "content": blocks(s), "isError": false})
		case s.User:
			say(map[string]any{"role": "user", "content": blocks(s)})
		case s.Call == "":
			answer("stop", blocks(s)...)
		default: // calls that follow each other were made in one answer
			calls := []any{callOf(thread, s)}
			for i < len(h.Steps) && h.Steps[i].Call != "" && !h.Steps[i].Output {
				calls = append(calls, callOf(thread, &h.Steps[i]))
				i++
			}
			answer("toolUse", calls...)
		}
	}
	return b.Bytes()
}

func callOf(thread string, s *surgery.Step) any {
	return map[string]any{"type": "toolCall", "id": "call_" + newID(thread, s.Call), "name": "bash", "arguments": map[string]any{"command": s.Command}}
}

// blocks are a step's words and images.
func blocks(s *surgery.Step) (list []any) {
	if s.Text != "" || len(s.Images) == 0 {
		list = append(list, map[string]any{"type": "text", "text": s.Text})
	}
	for _, p := range s.Images {
		list = append(list, map[string]any{"type": "image", "data": p.Image, "mimeType": p.Type})
	}
	return list
}
