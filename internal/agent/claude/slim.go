package claude

import (
	"bytes"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hist-cli/hist/internal/session"
	"github.com/hist-cli/hist/internal/surgery"
)

// Surgeon operates on sessions of Claude Code.
type Surgeon struct{}

// Slim takes out what is off the chain that is sent, bookkeeping that later records supersede and, unless the view is to stay as it is,
// the second copies of results and the records of requests.
func (sur Surgeon) Slim(s *surgery.Session, opts surgery.SlimOptions) (*surgery.Plan, error) {
	plan := &surgery.Plan{Sends: surgery.Same}
	t := newTree(s)
	live := t.live()
	off := plan.Group("off-the-chain", "it is on no way to what is sent: a branch that was left, or what a compaction has replaced")
	old := plan.Group("superseded", "a later record of the client's bookkeeping supersedes it")
	requests := plan.Group("requests", "the client's record of what it sent: nothing reads it at a resume")
	second := plan.Group("second-copies", "a second copy of a tool's result, for the client's view: the model is sent the first one")
	superseded := t.superseded(live)
	for i := range s.Records {
		rec := &s.Records[i]
		n := t.by[rec]
		switch {
		case rec.Kind == session.Unreadable:
		case n != nil && !live[n] && t.mayGo(n):
			off.Drop(rec)
		case n == nil && superseded[i]:
			old.Drop(rec)
		case opts.Level == surgery.Exact:
		case n == nil && strings.HasPrefix(typeOf(rec), "api-request"):
			requests.Drop(rec)
		case n != nil:
			if v, ok := surgery.At(rec.Raw, "toolUseResult"); ok && len(v.Raw) > resultKept {
				second.Cut(rec, session.DropMember(rec.Raw, "", "toolUseResult"))
			}
		}
	}
	t.newRoots(plan, live)
	if opts.Level == surgery.Shorter {
		plan.Sends = surgery.Marked
		if first := surgery.Shorten(s, sur, plan, opts); first != nil {
			if err := t.unbind(plan, live, first, opts.DropThinking); err != nil {
				return nil, err
			}
		}
	}
	if !off.Empty() {
		plan.Notes = append(plan.Notes, "in the slim session, branches that were left and what stood before the last compaction can't be gone back to, forked or repaired any more; the original holds them")
	}
	if !requests.Empty() {
		plan.Notes = append(plan.Notes, "the client's records of its requests are a source for repairs; only the original has them")
	}
	return plan, nil
}

// resultKept is the size, in bytes, of a second copy that is not worth taking out.
const resultKept = 64

func typeOf(rec *session.Record) string { return gjson.GetBytes(rec.Raw, "type").String() }

// live are the records that the client needs: what may be sent, and what leads to it.
func (t *tree) live() map[*node]bool {
	set := map[*node]bool{}
	for _, n := range t.nodes {
		if !n.side && t.s.MaySend(n.rec.Pos) {
			t.above(n, set)
		}
	}
	for n := range t.kept {
		set[n] = true
	}
	// What hangs below and says nothing by itself belongs to it: notices, snapshots, attachments of the last turn.
	for _, n := range t.nodes {
		if n.typ != "user" && n.typ != "assistant" && set[t.byID[n.parent]] {
			set[n] = true
		}
	}
	return set
}

// newRoots takes the link from each record that stays to one that goes. Its client does not follow that: a compaction keeps the record.
func (t *tree) newRoots(plan *surgery.Plan, stay map[*node]bool) {
	g := plan.Group("new-roots", "the record that it hangs on goes, and its client does not follow that link: a compaction keeps it")
	for _, n := range t.nodes {
		up := t.byID[n.parent]
		if !stay[n] || up == nil || stay[up] || !t.mayGo(up) {
			continue
		}
		if v, ok := surgery.At(n.rec.Raw, "parentUuid"); ok {
			g.Cut(n.rec, v.Instead([]byte("null")))
		}
	}
}

// mayGo says whether a record that is not live may be taken out: all but what inline sub-agents said, which belongs to a call.
func (t *tree) mayGo(n *node) bool { return !n.side }

// eachReplaces are the types of which only the last record counts.
var eachReplaces = map[string]bool{
	"last-prompt": true, "mode": true, "permission-mode": true, "tools-used": true, "atis-latch": true, "cost-state": true, "custom-title": true, "agent-name": true, "ai-title": true,
}

// superseded are the records of what the client notes beside the conversation, by their index, that say nothing any more.
func (t *tree) superseded(live map[*node]bool) map[int]bool {
	superseded := map[int]bool{}
	last := map[string]int{}
	for i := range t.s.Records {
		rec := &t.s.Records[i]
		if t.by[rec] != nil || rec.Kind == session.Unreadable {
			continue
		}
		typ := typeOf(rec)
		switch {
		case eachReplaces[typ]:
			if before, ok := last[typ]; ok {
				superseded[before] = true
			}
			last[typ] = i
		case strings.HasPrefix(typ, "file-history-"):
			of := t.byID[gjson.GetBytes(rec.Raw, "messageId").String()]
			superseded[i] = of != nil && !live[of] && t.mayGo(of)
		}
	}
	return superseded
}

// Media are the images of a message, and the texts of its results.
func (Surgeon) Media(rec *session.Record) (list []surgery.Medium) {
	if !bytes.Contains(rec.Raw, []byte(`"message"`)) {
		return nil
	}
	surgery.Walk(rec.Raw, func(v *surgery.Value) bool {
		if len(v.Path) > 0 && v.Path[0] != "message" {
			return false
		}
		block := v.IsObject() && len(v.Path) > 1
		switch typ := v.Get("type").String(); {
		case !block:
		case typ == "image" || typ == "document":
			list = append(list, surgery.Medium{Value: *v, Image: true, Note: surgery.TextBlock})
			return false
		case typ == "tool_result":
			list = append(list, texts(v)...)
		}
		return true
	})
	return list
}

// texts are the texts of a tool's result.
func texts(result *surgery.Value) (list []surgery.Medium) {
	add := func(r gjson.Result) {
		if r.Type == gjson.String {
			list = append(list, surgery.Medium{Value: surgery.Value{Result: r, Start: r.Index, End: r.Index + len(r.Raw)}, Note: surgery.Quote})
		}
	}
	content := result.Result
	content.ForEach(func(key, val gjson.Result) bool {
		if key.String() != "content" {
			return true
		}
		add(val)
		if val.IsArray() {
			val.ForEach(func(_, part gjson.Result) bool {
				part.ForEach(func(k, v gjson.Result) bool {
					if k.String() == "text" {
						add(v)
					}
					return true
				})
				return true
			})
		}
		return true
	})
	return list
}
